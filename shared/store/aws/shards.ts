import type { AttributeValue, DynamoDBClient, QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { QueryCommand } from '@aws-sdk/client-dynamodb'
import type { Item } from './attribute-value.ts'
import { SHARDS } from './attributes.ts'

/** Rows read from a shard beyond its fair share, so that most merges need no second query. */
const SPARE_ROWS = 8

type ShardQuery = Omit<QueryCommandInput, 'Limit' | 'ExclusiveStartKey'>

/** One partition's rows in index order, a page at a time; the next page is asked for when the last row of one is taken. */
class Shard {
  readonly #client: DynamoDBClient
  readonly #query: QueryCommandInput
  #rows: Item[] = []
  #from: Record<string, AttributeValue> | undefined
  #ended = false

  constructor(client: DynamoDBClient, query: QueryCommandInput) {
    this.#client = client
    this.#query = query
  }

  async peek(): Promise<Item | undefined> {
    while (this.#rows.length === 0 && !this.#ended) {
      const page = await this.#client.send(
        new QueryCommand({ ...this.#query, ExclusiveStartKey: this.#from }),
      )
      this.#rows = page.Items ?? []
      this.#from = page.LastEvaluatedKey
      this.#ended = this.#from === undefined
    }
    return this.#rows[0]
  }

  take(): void {
    this.#rows.shift()
  }
}

/**
 * The first `limit` rows over all shards of an index, in the order of its sort attribute. `queryOf` asks one shard; its
 * answers are in that order by themselves.
 */
export async function mergeShards(
  client: DynamoDBClient,
  limit: number,
  queryOf: (shard: number) => ShardQuery,
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  const page = { Limit: Math.ceil(limit / SHARDS) + SPARE_ROWS }
  const shards = Array.from({ length: SHARDS }, (_, n) => new Shard(client, { ...queryOf(n), ...page }))
  const merged: Item[] = []
  while (merged.length < limit) {
    const rows = await Promise.all(shards.map((shard) => shard.peek()))
    let first: number | undefined
    rows.forEach((row, n) => {
      const least = first === undefined ? undefined : rows[first]
      if (row && (!least || compare(row, least) < 0)) first = n
    })
    if (first === undefined) break
    merged.push(rows[first] as Item)
    shards[first]?.take()
  }
  return merged
}
