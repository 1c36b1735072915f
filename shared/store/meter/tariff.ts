import type { RunKey } from '../../schema/index.ts'
import type { CardRow, ComposePart, Head } from '../ports.ts'

/** As S3 and DynamoDB charge for them; a `look` is a query of what is due, which has nothing to do with any one run. */
export const METERED = [
  'put',
  'copy',
  'post',
  'get',
  'list',
  'delete',
  'item_read',
  'item_write',
  'query',
  'look',
] as const
/** One of the kinds that are counted. */
export type Metered = (typeof METERED)[number]

/** How calls of the ports become requests of a service that charges for each; an adapter says it of its own. */
export interface Tariff {
  /** The requests that store an object of these parts. */
  storing(parts: readonly ComposePart[]): readonly StoringRequest[]
  headBytes(run: RunKey, head: Head): number
  cardBytes(row: CardRow): number
  /** Queries of one walk over a sharded index. */
  readonly shards: number
  /** Keys of one answer to a list. */
  readonly listed: number
}

interface StoringRequest {
  readonly kind: Metered
  /** Bytes that it moves. */
  readonly length: number
  /** Of an item. */
  readonly units?: number
}
