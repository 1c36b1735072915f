import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { RunKey, Transfer, Worker } from '../../schema/index.ts'
import { serverTime } from '../head.ts'
import type { DerivedPlace, Head, HeadLease, Origin, Ticks } from '../ports.ts'
import { fromAttribute, type Plain, toAttribute } from './attribute-value.ts'
import { isLong, requiresName } from './long-requires.ts'

// How each member of a head is kept. An update is billed by the size of the whole item, so names are short, what is null
// or empty is left out, bytes are not spelled as text, and what is never asked about piece by piece is a list without
// names.

/** One member; `undefined` is an attribute that is not there. */
interface Field<T> {
  /** The attribute's name. */
  readonly as: string
  write(value: T, run: RunKey): AttributeValue | undefined
  read(attribute: AttributeValue | undefined, run: RunKey): T
}

/** As it is; null is kept by absence. */
const plain = <T>(as: string): Field<T> => ({
  as,
  write: (value) => (value === null ? undefined : toAttribute(value as Plain)),
  read: (attribute) => (attribute === undefined ? null : fromAttribute(attribute)) as T,
})

/** An object of these members, as a list in this order. */
const row = <T extends object>(as: string, ...names: readonly (keyof T & string)[]): Field<T | null> => ({
  as,
  write: (value) => (value === null ? undefined : toAttribute(names.map((name) => value[name] as Plain))),
  read: (attribute) => {
    if (attribute === undefined) return null
    const values = fromAttribute(attribute) as readonly Plain[]
    return Object.fromEntries(names.map((name, place) => [name, values[place] ?? null])) as T
  },
})

const requires: Field<readonly string[]> = {
  as: 'rq',
  write: (value) => {
    if (value.length === 0) return undefined
    return isLong(value) ? { S: requiresName(value) } : toAttribute(value)
  },
  read: (attribute) => (attribute?.L ? (fromAttribute(attribute) as string[]) : []),
}

const digest: Field<string> = {
  as: 'di',
  write: (value) => ({ B: Buffer.from(value, 'hex') }),
  read: (attribute) => Buffer.from(attribute?.B ?? []).toString('hex'),
}

/** `<version>:<base64>` as those bytes behind the version; anything else as it is. */
const hashState: Field<string> = {
  as: 'hs',
  write: (value) => {
    const [version = '', base64 = ''] = value.split(':')
    const bytes = Buffer.concat([Buffer.from(`${version}:`), Buffer.from(base64, 'base64')])
    return stateText(bytes) === value ? { B: bytes } : { S: value }
  },
  read: (attribute) => attribute?.S ?? stateText(Buffer.from(attribute?.B ?? [])),
}

function stateText(bytes: Buffer): string {
  const end = bytes.indexOf(':') + 1
  return bytes.toString('latin1', 0, end) + bytes.toString('base64', end)
}

const transfer = row<Transfer>('ho', 'epoch', 'machine_id', 'world_id', 'from', 'reason')

/** Its time as a number, where that is the same. */
const holder: Field<Transfer | null> = {
  as: transfer.as,
  write: (value, run) => transfer.write(value && { ...value, from: shortTime(value.from) as string }, run),
  read: (attribute, run) => {
    const value = transfer.read(attribute, run)
    return value && { ...value, from: typeof value.from === 'number' ? serverTime(value.from) : value.from }
  },
}

function shortTime(text: string): string | number {
  const ms = Date.parse(text)
  return Number.isFinite(ms) && serverTime(ms) === text ? ms : text
}

const LEASE = ['machine_id', 'world_id', 'ttl_s', 'expires_at'] as const
/** Where a lease's expiry stands in its list. */
export const EXPIRY_PLACE = LEASE.indexOf('expires_at')

type Fields = { readonly [K in keyof Omit<Head, 'extents'>]: Field<Head[K]> }

export const FIELDS: Fields = {
  life: plain('li'),
  alive: plain('al'),
  epoch: plain('ep'),
  sweep: plain('sw'),
  lease: row<HeadLease>('le', ...LEASE),
  holder,
  previous: row<Worker>('pr', 'machine_id', 'world_id'),
  requires,
  origin: row<Origin>('or', 'run_id', 'life', 'seq'),
  tail: plain('ta'),
  frames: plain('fr'),
  points: plain('po'),
  unreadable: plain('un'),
  digest,
  hash_state: hashState,
  headed: plain('he'),
  ticks: row<Ticks>(
    'ti',
    'current_stage',
    'iteration',
    'prompt_tokens',
    'completion_tokens',
    'cached_tokens',
    'cache_write_tokens',
    'tool_calls',
    'updated_at',
  ) as Field<Ticks>,
  card_tail: plain('ct'),
  ended: plain('en'),
  snapshot: row<DerivedPlace>('sn', 'sweep', 'life', 'seq', 'offset', 'stateBytes', 'indexBytes', 'hash'),
  due_at: plain('due_at'), // the sort key of an index
  claim_at: plain('claim_at'), // so is this
  sweep_at: plain('sa'),
  created_at: plain('ca'),
  changed_at: plain('ch'),
}

/** The attribute of the extents (extent-text.ts). */
export const EXTENTS = 'ex'

export const attributeOf = <K extends keyof Fields>(
  name: K,
  value: Head[K],
  run: RunKey,
): AttributeValue | undefined => FIELDS[name].write(value, run)
