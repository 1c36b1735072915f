import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Tariff } from '../meter/tariff.ts'
import type { Item } from './attribute-value.ts'
import { SHARDS, STAMP } from './attributes.ts'
import { cardItem } from './card-item.ts'
import { headItem } from './head-item.ts'
import { planParts } from './part-plan.ts'

/** An upload of our own as an item: two keys and the name that S3 gives it, twice. */
const PARTS_ITEM = 900

/** What S3 and DynamoDB are asked by the adapters beside this file. */
export const awsTariff: Tariff = {
  storing: (parts) => {
    const plan = planParts(parts)
    const reads = plan.flatMap((part) => ('pack' in part ? part.pack : [])).filter((piece) => 'copy' in piece)
    const gets = reads.map(({ range }) => ({ kind: 'get' as const, length: range.end - range.start }))
    const stores = plan.map((part) =>
      'pack' in part
        ? { kind: 'put' as const, length: part.length }
        : { kind: 'copy' as const, length: part.range.end - part.range.start },
    )
    const isOnePut = stores.length < 2 && stores[0]?.kind !== 'copy'
    if (isOnePut) return [...gets, stores[0] ?? { kind: 'put', length: 0 }]
    // One opens the upload and one completes it.
    const posts = [0, 0].map((length) => ({ kind: 'post' as const, length }))
    // One writes the upload down and one forgets it, both with its row in the index.
    const notes = [0, 0].map(() => ({ kind: 'item_write' as const, length: PARTS_ITEM, units: 2 }))
    return [...gets, ...stores, ...posts, ...notes]
  },
  headBytes: (run, head) => itemBytes({ ...headItem(run, head), [STAMP]: { S: 'x'.repeat(8) } }),
  cardBytes: (row) => itemBytes(cardItem(row)),
  shards: SHARDS,
  listed: 1000,
}

/** Size of an item as DynamoDB counts it: names and values, and what holds maps and lists together. */
export function itemBytes(item: Item): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + textBytes(name) + valueBytes(value), 0)
}

const CONTAINER = 3
const MEMBER = 1

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return textBytes(value.S)
  if (value.N !== undefined) return numberBytes(value.N)
  if (value.B !== undefined) return value.B.length
  if (value.L !== undefined)
    return value.L.reduce((sum, inner) => sum + MEMBER + valueBytes(inner), CONTAINER)
  if (value.M !== undefined) return CONTAINER + itemBytes(value.M) + MEMBER * Object.keys(value.M).length
  return 1
}

/** About a byte for two significant digits, and one more. */
function numberBytes(digits: string): number {
  const significant = digits.replace('-', '').replace(/^0+|0+$/g, '')
  return 1 + Math.ceil(significant.length / 2) + (digits.startsWith('-') ? 1 : 0)
}

const textBytes = (text: string) => Buffer.byteLength(text)
