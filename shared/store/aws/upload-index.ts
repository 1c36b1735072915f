import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
} from '@aws-sdk/client-dynamodb'
import type { RunKey } from '../../schema/index.ts'
import type { UploadIndex, UploadRecord } from '../ports.ts'
import { fromAttribute, type Item, type Plain, toAttribute } from './attribute-value.ts'
import {
  BY_DUE,
  PK,
  runPk,
  SK,
  UPLOAD,
  uploadSk,
  uploadsPartition,
  uploadsPartitionOf,
} from './attributes.ts'
import { batchGet } from './batch-get.ts'
import { asking } from './sdk-error.ts'
import { mergeShards } from './shards.ts'

/** Open uploads as items beside their run's head, in `by_due` by the time they expire, apart from the due heads. */
export class DynamoUploadIndex implements UploadIndex {
  readonly #client: DynamoDBClient
  readonly #table: string

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client
    this.#table = table
  }

  async put(record: UploadRecord): Promise<void> {
    const item = {
      ...keyOf(record.run, record.upload_id),
      [BY_DUE.partition]: { S: uploadsPartitionOf(record.run) },
      [BY_DUE.sort]: toAttribute(record.expires_at),
      upload: toAttribute(record as unknown as Plain),
    }
    await asking('keeping an upload', () =>
      this.#client.send(new PutItemCommand({ TableName: this.#table, Item: item })),
    )
  }

  async get(run: RunKey, upload_id: string): Promise<UploadRecord | undefined> {
    const { Item } = await asking('reading an upload', () =>
      this.#client.send(
        new GetItemCommand({ TableName: this.#table, Key: keyOf(run, upload_id), ConsistentRead: true }),
      ),
    )
    return Item && recordOf(Item)
  }

  async remove(run: RunKey, upload_id: string): Promise<void> {
    await asking('forgetting an upload', () =>
      this.#client.send(new DeleteItemCommand({ TableName: this.#table, Key: keyOf(run, upload_id) })),
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
      for await (const { Items = [] } of pages) records.push(...Items.map(recordOf))
      return records
    })
  }

  async expired(now: number, limit: number): Promise<readonly UploadRecord[]> {
    return asking('reading expired uploads', async () => {
      const rows = await mergeShards(
        this.#client,
        limit,
        (shard) => ({
          TableName: this.#table,
          IndexName: BY_DUE.name,
          KeyConditionExpression: '#due = :due AND #due_at <= :now',
          ExpressionAttributeNames: { '#due': BY_DUE.partition, '#due_at': BY_DUE.sort },
          ExpressionAttributeValues: { ':due': { S: uploadsPartition(shard) }, ':now': toAttribute(now) },
        }),
        (a, b) => Number(a[BY_DUE.sort]?.N) - Number(b[BY_DUE.sort]?.N),
      )
      const keys = rows.map((row) => ({ [PK]: row[PK], [SK]: row[SK] }) as Item)
      // The index lags behind: what it still names may be forgotten already.
      const items = await batchGet(this.#client, this.#table, keys)
      return items.filter((item) => item !== undefined).map(recordOf)
    })
  }
}

const keyOf = (run: RunKey, upload_id: string): Item => ({
  [PK]: { S: runPk(run) },
  [SK]: { S: uploadSk(upload_id) },
})

const recordOf = (item: Item): UploadRecord =>
  fromAttribute(item.upload ?? { NULL: true }) as unknown as UploadRecord
