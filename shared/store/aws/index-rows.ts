import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Item } from './attribute-value.ts'
import { type BY_CLAIM, BY_CREATION, type BY_DUE } from './attributes.ts'
import { mergeShards } from './shards.ts'

/** The partition that a shard of an index has. */
type PartitionOf = (shard: number) => string

/**
 * Rows whose time in the index is `until` (ms) at the latest, the earliest first, over all shards. Throws what the SDK throws.
 */
export function rowsUntil(
  client: DynamoDBClient,
  table: string,
  index: typeof BY_DUE | typeof BY_CLAIM,
  partitionOf: PartitionOf,
  until: number,
  limit: number,
): Promise<Item[]> {
  const { name, partition, sort } = index
  return mergeShards(
    client,
    limit,
    (shard) => ({
      TableName: table,
      IndexName: name,
      KeyConditionExpression: '#partition = :partition AND #time <= :until',
      ExpressionAttributeNames: { '#partition': partition, '#time': sort },
      ExpressionAttributeValues: {
        ':partition': { S: partitionOf(shard) },
        ':until': { N: String(until) },
      },
    }),
    (a, b) => Number(a[sort]?.N) - Number(b[sort]?.N),
  )
}

/** Where a listing goes on: behind the row that was made at `after`, or at its beginning. */
interface ListPage {
  readonly order: 'asc' | 'desc'
  readonly after: string | undefined
  readonly limit: number
}

/** Rows of a listing in the order in which they were made, over all shards. Throws what the SDK throws. */
export function listedRows(
  client: DynamoDBClient,
  table: string,
  partitionOf: PartitionOf,
  { order, after, limit }: ListPage,
): Promise<Item[]> {
  const { name, partition, sort } = BY_CREATION
  const ascending = order === 'asc'
  const isBehind = `AND #made ${ascending ? '>' : '<'} :after`
  return mergeShards(
    client,
    limit,
    (shard) => ({
      TableName: table,
      IndexName: name,
      ScanIndexForward: ascending,
      KeyConditionExpression: `#list = :list ${after === undefined ? '' : isBehind}`,
      ExpressionAttributeNames: { '#list': partition, ...(after !== undefined && { '#made': sort }) },
      ExpressionAttributeValues: {
        ':list': { S: partitionOf(shard) },
        ...(after !== undefined && { ':after': { S: after } }),
      },
    }),
    (a, b) => ((a[sort]?.S ?? '') < (b[sort]?.S ?? '') === ascending ? -1 : 1),
  )
}
