import {
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { RunfoldError, type RunKey, type Transfer } from '../../schema/index.ts'
import type { CardRow, CardScan, Expectation, Head, HeadChange, RunIndex, WaitingRun } from '../ports.ts'
import { fromAttribute, type Item, toAttribute } from './attribute-value.ts'
import {
  BY_CLAIM,
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
  TRANSFER,
  transferSk,
} from './attributes.ts'
import { batchGet } from './batch-get.ts'
import { cardItem, cardKey, cardOf, cardTombstone, newerCard } from './card-item.ts'
import { getItem } from './get-item.ts'
import { headKey, headOf, requiresIn, requiresNameIn, withRequires } from './head-item.ts'
import { headUpdate } from './head-update.ts'
import { listedRows, rowsUntil } from './index-rows.ts'
import { isLong, requiresItem, requiresKey } from './long-requires.ts'
import { scanHeads } from './scan-heads.ts'
import { asking, isNamed, REFUSED } from './sdk-error.ts'
import { stampedWrite } from './stamped-write.ts'

/** A head, a card and some transfers. */
const ROWS_PER_RUN = 4

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
    const page = { order, after: after && madeAt(after), limit }
    const rows = await asking('listing cards', () =>
      listedRows(this.#client, this.#table, (shard) => listPartition(tenant, shard), page),
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
      rowsUntil(this.#client, this.#table, BY_DUE, duePartition, now, limit),
    )
    return rows.map((row) => runOf(textOf(row, PK)))
  }

  async waiting(tenant: string, until: number, limit: number): Promise<readonly WaitingRun[]> {
    const partitionOf = (shard: number) => claimPartition(tenant, shard)
    const rows = await asking('reading the waiting runs', () =>
      rowsUntil(this.#client, this.#table, BY_CLAIM, partitionOf, until, limit),
    )
    return rows.map((row) => ({ run: runOf(textOf(row, PK)), requires: requiresIn(row) }))
  }

  async everyRun(after: RunKey | undefined, limit: number): Promise<readonly RunKey[]> {
    const heads = { filter: '#sk = :head', head: HEAD, rowsPerHead: ROWS_PER_RUN }
    const keys = await asking('reading every head', () =>
      scanHeads(this.#client, this.#table, { ...heads, after: after && headKey(after), limit }),
    )
    return keys.map((key) => runOf(textOf(key, PK)))
  }

  #item(key: Item): Promise<Item | undefined> {
    return asking('reading an item', () => getItem(this.#client, this.#table, key))
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

  /** False when the condition was refused. */
  #update(run: RunKey, expect: Expectation, change: HeadChange): Promise<boolean> {
    return stampedWrite(
      'committing a head',
      (stamp) =>
        this.#client.send(new UpdateItemCommand(headUpdate(this.#table, run, expect, change, stamp))),
      () => this.#item(headKey(run)),
    )
  }
}

const textOf = (item: Item, name: string): string => item[name]?.S ?? ''
