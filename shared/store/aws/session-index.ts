import {
  BatchWriteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateQuery,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb'
import type { SessionKey } from '../../schema/index.ts'
import type {
  ClosedGeneration,
  FileItem,
  FilePlace,
  NamedFile,
  NamedGeneration,
  SessionHead,
  SessionIndex,
  SessionPlace,
  SessionRow,
} from '../ports.ts'
import type { Item } from './attribute-value.ts'
import { BY_DUE, PK, SK, STAMP } from './attributes.ts'
import { batchGet } from './batch-get.ts'
import { getItem } from './get-item.ts'
import { listedRows, rowsUntil } from './index-rows.ts'
import { scanHeads } from './scan-heads.ts'
import { asking } from './sdk-error.ts'
import {
  closedKey,
  type FileKind,
  fileItem,
  fileKey,
  fileOf,
  filesSk,
  HEAD_SK,
  headItem,
  headKey,
  headOf,
  lifeSk,
  listedAt,
  notOlder,
  pathIn,
  sessionOf,
  sessionPk,
  sessionsDuePartition,
  sessionsPartition,
  succeeding,
} from './session-items.ts'
import { stampedWrite } from './stamped-write.ts'

/** DynamoDB deletes at most so many items by one request. */
const DELETE_BATCH = 25
/** A head and some files. */
const ROWS_PER_SESSION = 8

/** The session index in the table of the runs (session-items.ts). */
export class DynamoSessionIndex implements SessionIndex {
  readonly #client: DynamoDBClient
  readonly #table: string

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client
    this.#table = table
  }

  async head(session: SessionKey): Promise<SessionHead | undefined> {
    const item = await this.#item(headKey(session))
    return item && headOf(item)
  }

  async heads(sessions: readonly SessionKey[]): Promise<readonly (SessionHead | undefined)[]> {
    const found = await asking('reading heads', () =>
      batchGet(this.#client, this.#table, sessions.map(headKey)),
    )
    return found.map((item) => item && headOf(item))
  }

  putHead(session: SessionKey, head: SessionHead): Promise<boolean> {
    return this.#put(headItem(session, head), succeeding(head.version))
  }

  async file(session: SessionKey, place: FilePlace): Promise<FileItem | undefined> {
    const item = await this.#item(fileKey(session, place))
    return item && fileOf<FileItem>(item)
  }

  putFile(session: SessionKey, place: FilePlace, file: FileItem): Promise<boolean> {
    return this.#put(fileItem(fileKey(session, place), file), succeeding(file.version))
  }

  async *files(session: SessionKey, life: number): AsyncGenerator<NamedFile> {
    for await (const item of this.#begun(session, lifeSk('file', session, life))) {
      yield { path: pathIn('file', session, life, item), file: fileOf<FileItem>(item) }
    }
  }

  async closed(
    session: SessionKey,
    place: FilePlace,
    generation: number,
  ): Promise<ClosedGeneration | undefined> {
    const item = await this.#item(closedKey(session, place, generation))
    return item && fileOf<ClosedGeneration>(item)
  }

  /** A refusal means that a later one stands there. */
  async putClosed(session: SessionKey, place: FilePlace, closed: ClosedGeneration): Promise<void> {
    const item = fileItem(closedKey(session, place, closed.generation), closed)
    await this.#put(item, notOlder(closed.version))
  }

  async *closedGenerations(session: SessionKey, life: number): AsyncGenerator<NamedGeneration> {
    for await (const item of this.#begun(session, lifeSk('closed', session, life))) {
      yield { path: pathIn('closed', session, life, item), closed: fileOf<ClosedGeneration>(item) }
    }
  }

  async forgetFiles(session: SessionKey, before: number): Promise<void> {
    for (const kind of ['file', 'closed'] satisfies FileKind[]) {
      const keys: Item[] = []
      for await (const item of this.#between(session, kind, before)) {
        keys.push({ [PK]: item[PK], [SK]: item[SK] } as Item)
      }
      for (let at = 0; at < keys.length; at += DELETE_BATCH)
        await this.#delete(keys.slice(at, at + DELETE_BATCH))
    }
  }

  async machines(tenant: string, harness: SessionKey['harness'], id: string): Promise<readonly string[]> {
    const found: string[] = []
    const heads = this.#begun({ tenant, harness, id }, HEAD_SK, `${PK}, ${SK}`)
    for await (const item of heads) found.push(sessionOf(item).machine)
    return found
  }

  async list(tenant: string, after: SessionPlace | undefined, limit: number): Promise<readonly SessionRow[]> {
    const page = { order: 'desc' as const, after: after && listedAt(after), limit }
    const rows = await asking('listing sessions', () =>
      listedRows(this.#client, this.#table, (shard) => sessionsPartition(tenant, shard), page),
    )
    return rows.map((item) => ({ session: sessionOf(item), head: headOf(item) }))
  }

  async due(now: number, limit: number): Promise<readonly SessionKey[]> {
    const rows = await asking('reading the due list', () =>
      rowsUntil(this.#client, this.#table, BY_DUE, sessionsDuePartition, now, limit),
    )
    return rows.map(sessionOf)
  }

  async everySession(after: SessionKey | undefined, limit: number): Promise<readonly SessionKey[]> {
    const heads = { filter: 'begins_with(#sk, :head)', head: HEAD_SK, rowsPerHead: ROWS_PER_SESSION }
    const keys = await asking('reading every session', () =>
      scanHeads(this.#client, this.#table, { ...heads, after: after && headKey(after), limit }),
    )
    return keys.map(sessionOf)
  }

  #item(key: Item): Promise<Item | undefined> {
    return asking('reading an item', () => getItem(this.#client, this.#table, key))
  }

  /** False when the condition was refused. */
  #put(item: Item, condition: ReturnType<typeof succeeding | typeof notOlder>): Promise<boolean> {
    return stampedWrite(
      'writing an item of a session',
      (stamp) => {
        const stamped = { ...item, [STAMP]: { S: stamp } }
        return this.#client.send(new PutItemCommand({ TableName: this.#table, Item: stamped, ...condition }))
      },
      () => this.#item({ [PK]: item[PK], [SK]: item[SK] } as Item),
    )
  }

  /** Items of one partition whose sort key begins so, read strongly. */
  #begun(session: Omit<SessionKey, 'machine'>, begin: string, projection?: string): AsyncGenerator<Item> {
    return this.#query({
      TableName: this.#table,
      ConsistentRead: true,
      KeyConditionExpression: '#pk = :pk AND begins_with(#sk, :begin)',
      ExpressionAttributeNames: { '#pk': PK, '#sk': SK },
      ExpressionAttributeValues: { ':pk': { S: sessionPk(session) }, ':begin': { S: begin } },
      ...(projection && { ProjectionExpression: projection }),
    })
  }

  #between(session: SessionKey, kind: FileKind, before: number): AsyncGenerator<Item> {
    return this.#query({
      TableName: this.#table,
      ConsistentRead: true,
      KeyConditionExpression: '#pk = :pk AND #sk BETWEEN :first AND :last',
      ProjectionExpression: '#pk, #sk',
      ExpressionAttributeNames: { '#pk': PK, '#sk': SK },
      ExpressionAttributeValues: {
        ':pk': { S: sessionPk(session) },
        ':first': { S: filesSk(kind, session) },
        ':last': { S: lifeSk(kind, session, before) },
      },
    })
  }

  async *#query(query: QueryCommandInput): AsyncGenerator<Item> {
    const pages = paginateQuery({ client: this.#client }, query)
    for (;;) {
      const { value: page, done } = await asking('reading items of a session', () => pages.next())
      if (done) return
      yield* page.Items ?? []
    }
  }

  async #delete(keys: readonly Item[]): Promise<void> {
    let left = keys.map((Key) => ({ DeleteRequest: { Key } }))
    while (left.length > 0) {
      const { UnprocessedItems } = await asking('forgetting items of a session', () =>
        this.#client.send(new BatchWriteItemCommand({ RequestItems: { [this.#table]: left } })),
      )
      left = (UnprocessedItems?.[this.#table] ?? []) as typeof left
    }
  }
}
