import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateQuery,
} from '@aws-sdk/client-dynamodb'
import type { RunKey } from '../../schema/index.ts'
import type { OpenParts, UploadIndex, UploadPlace, UploadRecord } from '../ports.ts'
import { fromAttribute, type Item, type Plain, toAttribute } from './attribute-value.ts'
import {
  BY_DUE,
  PARTS,
  PK,
  partsPk,
  runPk,
  SK,
  UPLOAD,
  uploadSk,
  uploadsPartition,
  uploadsPartitionOf,
} from './attributes.ts'
import { batchGet } from './batch-get.ts'
import { getItem } from './get-item.ts'
import { rowsUntil } from './index-rows.ts'
import { asking } from './sdk-error.ts'

/**
 * Open uploads as items beside their run's head, and those of our own as items by themselves; both in `by_due` by the time they
 * expire, apart from the due heads.
 */
export class DynamoUploadIndex implements UploadIndex {
  readonly #client: DynamoDBClient
  readonly #table: string

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client
    this.#table = table
  }

  put(record: UploadRecord): Promise<void> {
    return this.#put(keyOf(record.run, record.upload_id), record)
  }

  putParts(parts: OpenParts): Promise<void> {
    return this.#put(partsKeyOf(parts), parts)
  }

  async #put(key: UploadKey, upload: UploadRecord | OpenParts): Promise<void> {
    const item = {
      ...key,
      [BY_DUE.partition]: { S: uploadsPartitionOf(key[PK].S) },
      [BY_DUE.sort]: toAttribute(upload.expires_at),
      upload: toAttribute(upload as unknown as Plain),
    }
    await asking('keeping an upload', () =>
      this.#client.send(new PutItemCommand({ TableName: this.#table, Item: item })),
    )
  }

  async get(run: RunKey, upload_id: string): Promise<UploadRecord | undefined> {
    const item = await asking('reading an upload', () =>
      getItem(this.#client, this.#table, keyOf(run, upload_id)),
    )
    return item && uploadOf<UploadRecord>(item)
  }

  remove(run: RunKey, upload_id: string): Promise<void> {
    return this.#remove(keyOf(run, upload_id))
  }

  removeParts(place: UploadPlace): Promise<void> {
    return this.#remove(partsKeyOf(place))
  }

  async #remove(key: UploadKey): Promise<void> {
    await asking('forgetting an upload', () =>
      this.#client.send(new DeleteItemCommand({ TableName: this.#table, Key: key })),
    )
  }

  async ofRun(run: RunKey): Promise<readonly UploadRecord[]> {
    return asking('reading uploads', async () => {
      const records: UploadRecord[] = []
      const pages = paginateQuery(
        { client: this.#client },
        {
          TableName: this.#table,
          ConsistentRead: true,
          KeyConditionExpression: '#pk = :pk AND begins_with(#sk, :upload)',
          ExpressionAttributeNames: { '#pk': PK, '#sk': SK },
          ExpressionAttributeValues: { ':pk': { S: runPk(run) }, ':upload': { S: UPLOAD } },
        },
      )
      for await (const { Items = [] } of pages) records.push(...Items.map(uploadOf<UploadRecord>))
      return records
    })
  }

  async expired(now: number, limit: number): Promise<readonly (UploadRecord | OpenParts)[]> {
    return asking('reading expired uploads', async () => {
      const rows = await rowsUntil(this.#client, this.#table, BY_DUE, uploadsPartition, now, limit)
      const keys = rows.map((row) => ({ [PK]: row[PK], [SK]: row[SK] }) as Item)
      // The index lags behind: what it still names may be forgotten already.
      const items = await batchGet(this.#client, this.#table, keys)
      return items.filter((item) => item !== undefined).map(uploadOf<UploadRecord | OpenParts>)
    })
  }
}

type UploadKey = Item & { readonly [PK]: { readonly S: string } }

const keyOf = (run: RunKey, upload_id: string): UploadKey => ({
  [PK]: { S: runPk(run) },
  [SK]: { S: uploadSk(upload_id) },
})

const partsKeyOf = ({ storage_id }: UploadPlace): UploadKey => ({
  [PK]: { S: partsPk(storage_id) },
  [SK]: { S: PARTS },
})

const uploadOf = <T extends OpenParts>(item: Item): T =>
  fromAttribute(item.upload ?? { NULL: true }) as unknown as T
