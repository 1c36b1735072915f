import { setTimeout as sleep } from 'node:timers/promises'
import { BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { RunfoldError } from '../../schema/index.ts'
import type { Item } from './attribute-value.ts'
import { PK, SK } from './attributes.ts'

/** DynamoDB answers at most so many items at once, and may leave any of them for another request. */
const BATCH = 100
const TRIES = 6
const FIRST_PAUSE_MS = 25

const nameOf = (key: Item) => JSON.stringify([key[PK]?.S, key[SK]?.S])

/** The items of the keys, strongly read, in the order of the keys; undefined where there is none. */
export async function batchGet(
  client: DynamoDBClient,
  table: string,
  keys: readonly Item[],
): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>()
  // One key may be asked for twice, but not of DynamoDB.
  const wanted = [...new Map(keys.map((key) => [nameOf(key), key])).values()]
  for (let at = 0; at < wanted.length; at += BATCH) {
    for (const item of await batch(client, table, wanted.slice(at, at + BATCH))) found.set(nameOf(item), item)
  }
  return keys.map((key) => found.get(nameOf(key)))
}

async function batch(client: DynamoDBClient, table: string, keys: readonly Item[]): Promise<Item[]> {
  const items: Item[] = []
  let left: Item[] = [...keys]
  for (let tries = 0; left.length > 0; tries++) {
    if (tries === TRIES) {
      throw new RunfoldError('slow_down', 'the table leaves reads unanswered', { retry_after_s: 1 })
    }
    if (tries > 0) await sleep(FIRST_PAUSE_MS * 2 ** tries)
    const request = new BatchGetItemCommand({
      RequestItems: { [table]: { Keys: left, ConsistentRead: true } },
    })
    const { Responses, UnprocessedKeys } = await client.send(request)
    items.push(...(Responses?.[table] ?? []))
    left = UnprocessedKeys?.[table]?.Keys ?? []
  }
  return items
}
