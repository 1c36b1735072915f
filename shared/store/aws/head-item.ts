import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { RunKey, Transfer, Worker } from '../../schema/index.ts'
import type { Extent, Extents, Head, HeadLease, Origin, Ticks } from '../ports.ts'
import { fromAttribute, type Plain, toAttribute } from './attribute-value.ts'
import { BY_DUE, duePartitionOf, HEAD, PK, runPk, SK } from './attributes.ts'

// How a head is laid out as an item. An update is billed by the size of the whole item, so what is null or empty is left
// out, bytes are not spelled in hex, and what is never asked about piece by piece is a list without names.

export type Item = Record<string, AttributeValue>

/** How one member is kept; `undefined` is an attribute that is not there. */
interface Field<T> {
  write(value: T): AttributeValue | undefined
  read(attribute: AttributeValue | undefined): T
}

/** As it is; null is kept by absence. */
const plain = <T>(): Field<T> => ({
  write: (value) => (value === null ? undefined : toAttribute(value as Plain)),
  read: (attribute) => (attribute === undefined ? null : fromAttribute(attribute)) as T,
})

/** An object of these members, as a list in this order. */
const row = <T extends object>(...names: (keyof T & string)[]): Field<T | null> => ({
  write: (value) => (value === null ? undefined : toAttribute(names.map((name) => value[name] as Plain))),
  read: (attribute) => {
    if (attribute === undefined) return null
    const values = fromAttribute(attribute) as readonly Plain[]
    return Object.fromEntries(names.map((name, place) => [name, values[place] ?? null])) as T
  },
})

const texts: Field<readonly string[]> = {
  write: (value) => (value.length === 0 ? undefined : toAttribute(value)),
  read: (attribute) => (attribute === undefined ? [] : (fromAttribute(attribute) as string[])),
}

const hex: Field<string> = {
  write: (value) => ({ B: Buffer.from(value, 'hex') }),
  read: (attribute) => Buffer.from(attribute?.B ?? []).toString('hex'),
}

const ticks = row<Ticks>(
  'current_stage',
  'iteration',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'tool_calls',
  'updated_at',
)

const LEASE = ['machine_id', 'world_id', 'ttl_s', 'expires_at'] as const
/** Where a lease's expiry stands in its list. */
export const EXPIRY_PLACE = LEASE.indexOf('expires_at')

type Fields = { readonly [K in keyof Omit<Head, 'extents'>]: Field<Head[K]> }

const FIELDS: Fields = {
  life: plain<number>(),
  alive: plain<boolean>(),
  epoch: plain<number>(),
  sweep: plain<number>(),
  lease: row<HeadLease>(...LEASE),
  holder: row<Transfer>('epoch', 'machine_id', 'world_id', 'from', 'reason'),
  previous: row<Worker>('machine_id', 'world_id'),
  requires: texts,
  origin: row<Origin>('run_id', 'life', 'seq'),
  tail: plain<number>(),
  frames: plain<number>(),
  points: plain<number>(),
  unreadable: plain<number>(),
  digest: hex,
  hash_state: plain<string>(),
  headed: plain<boolean | null>(),
  ticks: ticks as Field<Ticks>,
  card_tail: plain<number>(),
  ended: plain<boolean>(),
  snapshot: plain<Head['snapshot']>(),
  due_at: plain<number | null>(),
  sweep_at: plain<number | null>(),
  created_at: plain<number>(),
  changed_at: plain<number>(),
}

const NAMES = Object.keys(FIELDS) as (keyof Fields)[]

/** The attribute of one member of the head; it bears the member's name. */
export const attributeOf = <K extends keyof Fields>(name: K, value: Head[K]): AttributeValue | undefined =>
  FIELDS[name].write(value)

/** The whole item of a head, as the commits that led to it have left it; only their stamp is missing. */
export function headItem(run: RunKey, head: Head): Item {
  const members = NAMES.map((name) => [name, attributeOf(name, head[name])] as const)
  return {
    ...headKey(run),
    ...Object.fromEntries(members.filter(([, attribute]) => attribute !== undefined)),
    ...(head.due_at !== null && { [BY_DUE.partition]: { S: duePartitionOf(run) } }),
    extents: extentsAttribute(head.extents),
  } as Item
}

export const headKey = (run: RunKey): Item => ({ [PK]: { S: runPk(run) }, [SK]: { S: HEAD } })

export function headOf(item: Item): Head {
  const members = NAMES.map((name) => [name, FIELDS[name].read(item[name])])
  return { ...Object.fromEntries(members), extents: extentsOf(item.extents?.M ?? {}) }
}

// Extents: a map whose names are start offsets in plain decimal and whose values are short texts, some 40 bytes each:
//
//   "40960": { S: "3cg.0123456789abcdef.0.mfx0c1s0" }
//     start        length     hash     sweep  at          numbers in base 36

const BASE = 36
const START_DIGITS = 16

export const startOf = (name: string): string => String(Number(name))

/** What names the object; the commit time after it is no part of an extent's identity. */
export const identityOf = ({ length, hash, sweep }: Extent): string =>
  `${length.toString(BASE)}.${hash}.${sweep.toString(BASE)}.`

export const extentText = (extent: Extent): string => identityOf(extent) + extent.at.toString(BASE)

export const extentsAttribute = (extents: Extents): AttributeValue => ({
  M: Object.fromEntries(
    Object.entries(extents).map(([name, extent]) => [startOf(name), { S: extentText(extent) }]),
  ),
})

function extentsOf(map: Item): Extents {
  const named = Object.entries(map).map(([start, { S = '' }]) => {
    const [length = '', hash = '', sweep = '', at = ''] = S.split('.')
    const int = (digits: string) => Number.parseInt(digits, BASE)
    const extent: Extent = { length: int(length), hash, sweep: int(sweep), at: int(at) }
    return [start.padStart(START_DIGITS, '0'), extent] as const
  })
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}
