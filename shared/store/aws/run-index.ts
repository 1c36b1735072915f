import { randomBytes } from 'node:crypto'
import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { RunfoldError, type RunKey, type Transfer } from '../../schema/index.ts'
import type { CardRow, CardScan, Expectation, Head, HeadChange, RunIndex, WaitingRun } from '../ports.ts'
import { fromAttribute, type Item, toAttribute } from './attribute-value.ts'
import {
  BY_CLAIM,
  BY_CREATION,
  BY_DUE,
  claimPartition,
  duePartition,
  HEAD,
  listPartition,
  madeAt,
  PK,
  runOf,
  runPk,
  SK,
  STAMP,
  TRANSFER,
  transferSk,
} from './attributes.ts'
import { batchGet } from './batch-get.ts'
import { cardItem, cardKey, cardOf, cardTombstone, newerCard } from './card-item.ts'
import { headKey, headOf, requiresIn, requiresNameIn, withRequires } from './head-item.ts'
import { headUpdate } from './head-update.ts'
import { isLong, requiresItem, requiresKey } from './long-requires.ts'
import { asking, isNamed, storageError, wasRepeated } from './sdk-error.ts'
import { mergeShards } from './shards.ts'

/** A run has a head, a card and some transfers; a scan counts them all before it filters. */
const ROWS_PER_RUN = 4

/** Enough that no two commits to one run share a stamp. */
const STAMP_BYTES = 6

const REFUSED = 'ConditionalCheckFailedException'

/** Called when a head was committed and its card could not be written; maintenance repairs the card. */
export type OnStaleCard = (run: RunKey, error: unknown) => void

/** The run index in one DynamoDB table (attributes.ts, table.ts). */
export class DynamoRunIndex implements RunIndex {
  readonly #client: DynamoDBClient
  readonly #table: string
  readonly #onStaleCard: OnStaleCard

  constructor(client: DynamoDBClient, table: string, onStaleCard: OnStaleCard = () => {}) {
    this.#client = client
    this.#table = table
    this.#onStaleCard = onStaleCard
  }

  async head(run: RunKey): Promise<Head | undefined> {
    const item = await this.#item(headKey(run))
    return item && this.#headOf(run, item)
  }

  async heads(runs: readonly RunKey[]): Promise<readonly (Head | undefined)[]> {
    const found = await asking('reading heads', () => batchGet(this.#client, this.#table, runs.map(headKey)))
    return Promise.all(runs.map((run, n) => found[n] && this.#headOf(run, found[n])))
  }

  async commit(run: RunKey, expect: Expectation, change: HeadChange, card?: CardRow): Promise<boolean> {
    const { requires } = change.set
    if (requires && isLong(requires)) await this.#putRequires(run, requires)
    const made = await this.#update(run, expect, change)
    // The commit stands whatever becomes of the card.
    if (made && card) await this.#putCard(card).catch((error) => this.#onStaleCard(run, error))
    return made
  }

  async card(run: RunKey): Promise<CardRow | undefined> {
    const item = await this.#item(cardKey(run))
    return item && cardOf(item)
  }

  /** A refusal means that a younger life is listed, or that a repeat met our own first try. */
  async removeCard(run: RunKey, life: number): Promise<void> {
    await asking('removing a card', () => this.#put(cardTombstone(run, life)))
  }

  async cards(tenant: string, { order, after, limit }: CardScan): Promise<readonly CardRow[]> {
    const ascending = order === 'asc'
    const place = after && `AND #made ${ascending ? '>' : '<'} :after`
    const rows = await asking('listing cards', () =>
      mergeShards(
        this.#client,
        limit,
        (shard) => ({
          TableName: this.#table,
          IndexName: BY_CREATION.name,
          ScanIndexForward: ascending,
          KeyConditionExpression: `#list = :list ${place ?? ''}`,
          ExpressionAttributeNames: {
            '#list': BY_CREATION.partition,
            ...(after && { '#made': BY_CREATION.sort }),
          },
          ExpressionAttributeValues: {
            ':list': { S: listPartition(tenant, shard) },
            ...(after && { ':after': { S: madeAt(after) } }),
          },
        }),
        (a, b) => (textOf(a, BY_CREATION.sort) < textOf(b, BY_CREATION.sort) === ascending ? -1 : 1),
      ),
    )
    return rows.map(cardOf).filter((row) => row !== undefined)
  }

  async putTransfer(run: RunKey, transfer: Transfer): Promise<void> {
    const key = { [PK]: { S: runPk(run) }, [SK]: { S: transferSk(transfer.epoch) } }
    const item = { ...key, transfer: toAttribute(transfer) }
    await asking('keeping a transfer', () =>
      this.#client.send(new PutItemCommand({ TableName: this.#table, Item: item })),
    )
  }

  async transfers(run: RunKey, limit: number): Promise<readonly Transfer[]> {
    const { Items = [] } = await asking('reading transfers', () =>
      this.#client.send(
        new QueryCommand({
          TableName: this.#table,
          ConsistentRead: true,
          ScanIndexForward: false,
          Limit: limit,
          KeyConditionExpression: '#pk = :pk AND begins_with(#sk, :transfer)',
          ExpressionAttributeNames: { '#pk': PK, '#sk': SK },
          ExpressionAttributeValues: { ':pk': { S: runPk(run) }, ':transfer': { S: TRANSFER } },
        }),
      ),
    )
    return Items.map((item) => fromAttribute(item.transfer ?? { NULL: true }) as unknown as Transfer)
  }

  async due(now: number, limit: number): Promise<readonly RunKey[]> {
    const rows = await asking('reading the due list', () =>
      mergeShards(
        this.#client,
        limit,
        (shard) => ({
          TableName: this.#table,
          IndexName: BY_DUE.name,
          KeyConditionExpression: '#due = :due AND #due_at <= :now',
          ExpressionAttributeNames: { '#due': BY_DUE.partition, '#due_at': BY_DUE.sort },
          ExpressionAttributeValues: { ':due': { S: duePartition(shard) }, ':now': toAttribute(now) },
        }),
        (a, b) => Number(a[BY_DUE.sort]?.N) - Number(b[BY_DUE.sort]?.N),
      ),
    )
    return rows.map((row) => runOf(textOf(row, PK)))
  }

  async waiting(tenant: string, until: number, limit: number): Promise<readonly WaitingRun[]> {
    const rows = await asking('reading the waiting runs', () =>
      mergeShards(
        this.#client,
        limit,
        (shard) => ({
          TableName: this.#table,
          IndexName: BY_CLAIM.name,
          KeyConditionExpression: '#claim = :claim AND #claim_at <= :until',
          ExpressionAttributeNames: { '#claim': BY_CLAIM.partition, '#claim_at': BY_CLAIM.sort },
          ExpressionAttributeValues: {
            ':claim': { S: claimPartition(tenant, shard) },
            ':until': toAttribute(until),
          },
        }),
        (a, b) => Number(a[BY_CLAIM.sort]?.N) - Number(b[BY_CLAIM.sort]?.N),
      ),
    )
    return rows.map((row) => ({ run: runOf(textOf(row, PK)), requires: requiresIn(row) }))
  }

  /** Scans the table, in its own order. A page is cut where it is full, since any head's key is a place to go on from. */
  async everyRun(after: RunKey | undefined, limit: number): Promise<readonly RunKey[]> {
    const runs: RunKey[] = []
    let from = after && headKey(after)
    do {
      const page = await asking('reading every head', () =>
        this.#client.send(
          new ScanCommand({
            TableName: this.#table,
            ConsistentRead: true,
            Limit: limit * ROWS_PER_RUN,
            ExclusiveStartKey: from,
            FilterExpression: '#sk = :head',
            ProjectionExpression: '#pk',
            ExpressionAttributeNames: { '#pk': PK, '#sk': SK },
            ExpressionAttributeValues: { ':head': { S: HEAD } },
          }),
        ),
      )
      for (const item of page.Items ?? []) runs.push(runOf(textOf(item, PK)))
      from = page.LastEvaluatedKey
    } while (from && runs.length < limit)
    return runs.slice(0, limit)
  }

  async #item(key: Item): Promise<Item | undefined> {
    const { Item } = await asking('reading an item', () =>
      this.#client.send(new GetItemCommand({ TableName: this.#table, Key: key, ConsistentRead: true })),
    )
    return Item
  }

  /** Of a head and, where it has no room for what the run requires, a second item. */
  async #headOf(run: RunKey, item: Item): Promise<Head> {
    const name = requiresNameIn(item)
    if (name === undefined) return headOf(item)
    const kept = await this.#item(requiresKey(run, name))
    if (kept?.requires) return headOf(withRequires(item, kept.requires))
    throw new RunfoldError('internal', 'what a run requires is gone')
  }

  async #putRequires(run: RunKey, requires: Head['requires']): Promise<void> {
    await asking('keeping what a run requires', () =>
      this.#client.send(new PutItemCommand({ TableName: this.#table, Item: requiresItem(run, requires) })),
    )
  }

  async #putCard(row: CardRow): Promise<void> {
    await asking('writing a card', () => this.#put({ Item: cardItem(row), ...newerCard(row) }))
  }

  /** Writes the item where its condition holds; otherwise what stands there is newer and stays. */
  async #put(put: {
    Item: Item
    ConditionExpression: string
    ExpressionAttributeValues: Item
  }): Promise<void> {
    try {
      await this.#client.send(new PutItemCommand({ TableName: this.#table, ...put }))
    } catch (error) {
      if (!isNamed(error, REFUSED)) throw error
    }
  }

  /**
   * False when the condition was refused. The SDK repeats a request whose answer was lost, and the repeat of one that
   * was made is refused by its own effect; then, as after any failure, the stamp on the head tells whether it was made.
   * Another stamp tells nothing: the commit may have been built upon since, or still be on its way.
   */
  async #update(run: RunKey, expect: Expectation, change: HeadChange): Promise<boolean> {
    const stamp = randomBytes(STAMP_BYTES).toString('base64url')
    try {
      await this.#client.send(new UpdateItemCommand(headUpdate(this.#table, run, expect, change, stamp)))
      return true
    } catch (error) {
      if (isNamed(error, REFUSED) && !wasRepeated(error)) return false
      const head = await this.#item(headKey(run)).catch(() => undefined)
      if (head?.[STAMP]?.S === stamp) return true
      throw storageError('committing a head', error)
    }
  }
}

const textOf = (item: Item, name: string): string => item[name]?.S ?? ''
