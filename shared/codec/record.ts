import type * as z from 'zod'
import {
  entry,
  type InferenceUsage,
  type Int,
  type JournalRecord,
  journalRecord,
  message,
  POINT_KINDS,
  type RecordBody,
  type RecordKind,
  type RunMeta,
  recordBodies,
  runMeta,
  toolCall,
} from '../schema/index.ts'
import { concat } from './concat.ts'
import { encodeFrame } from './frame.ts'
import type { HeldRecord } from './held.ts'
import { hold } from './hold.ts'
import { Cursor, Mismatch } from './json/cursor.ts'
import { isJson } from './json/grammar.ts'
import { readNumber } from './json/number.ts'
import { Quotes } from './json/quotes.ts'
import { opensRecord } from './opening.ts'
import { PREAMBLE } from './preamble.ts'
import type { Raw } from './raw.ts'
import { compile } from './shape/compile.ts'
import { held, write } from './shape/held.ts'
import type { Shape } from './shape/shape.ts'
import { only, type Struct } from './shape/struct.ts'
import { Unreadable } from './unreadable.ts'

/** A record as read: its one key is the kind. */
type Tagged<Body> = Readonly<Record<string, Body>>

/** What the fold carries without looking inside. */
const CARRIED: ReadonlyMap<unknown, Shape> = new Map(
  [
    entry,
    runMeta,
    message,
    toolCall,
    recordBodies.ToolBatch.shape.response,
    recordBodies.ToolCallDone.shape.result,
    recordBodies.Inference,
    recordBodies.InferenceUsage,
  ].map((schema) => [schema, held(compile(schema as z.ZodType)) as Shape]),
)

/** What a missing response is held as. */
const TEXT = recordBodies.ToolBatch.shape.response

const BODIES = new Set<unknown>(Object.values(recordBodies))

const recordShape = compile(journalRecord)
const viewShape = held(recordShape)
const heldShape = compile(
  journalRecord as z.ZodType<Tagged<object>>,
  (schema, shape) => CARRIED.get(schema) ?? shape,
)
const scanShape = compile(journalRecord as z.ZodType<Tagged<{ at?: Int }>>, (schema, shape) =>
  BODIES.has(schema) ? only(shape as Struct, 'at') : shape,
)
const metaShape = compile(runMeta)

/** Reads a payload as the fold wants it: what is only carried is held as bytes (held.ts). @throws Unreadable */
export function readRecord(payload: Uint8Array): HeldRecord {
  return heldRecord(orThrow(readAs(heldShape, payload)))
}

/**
 * The same of a payload that `scanRecord` or `readRecord` found readable before, in less time: the letters of what is
 * only carried are not looked at again. Of any other bytes it may make a record whose texts are no texts, but it ends, and
 * reads nothing beyond them. @throws Unreadable
 */
export function readTrusted(payload: Uint8Array): HeldRecord {
  return heldRecord(orThrow(readAs(heldShape, payload, true)))
}

/** The same with what is only carried looked at when somebody asks for it. @throws Unreadable */
export function readLoosely(payload: Uint8Array, carried: 'later' | 'counted'): HeldRecord {
  return heldRecord(orThrow(readAs(heldShape, payload, true, carried)))
}

const usageShape = CARRIED.get(recordBodies.InferenceUsage) as Shape<Raw<InferenceUsage>>

/** The body of a readable InferenceUsage from `start` to `end` of its payload, looked at when somebody asks for it. */
export const usageLater = (payload: Uint8Array, start: number, end: number): Raw<InferenceUsage> =>
  usageShape.later?.(payload, start, end) as Raw<InferenceUsage>

function heldRecord(tagged: Tagged<object>): HeldRecord {
  const kind = Object.keys(tagged)[0] as RecordKind
  const body = tagged[kind] as object
  if (kind === 'Inference') {
    const inference = body as Raw<RecordBody<'Inference'>>
    return { kind, at: lastInteger(inference.bytes), inference }
  }
  if (kind === 'InferenceUsage') {
    const usage = body as Raw<RecordBody<'InferenceUsage'>>
    return { kind, at: lastInteger(usage.bytes), usage }
  }
  if (kind === 'ToolBatch') {
    const batch = body as Extract<HeldRecord, { kind: 'ToolBatch' }>
    return { ...batch, kind, response: hold(TEXT, batch.response) }
  }
  // Every other body's fields are named as HeldRecord names them; only a Header has no time.
  return { kind, at: null, ...body } as HeldRecord
}

/** The value of the last field of a canonical structure, which is an integer. */
function lastInteger(bytes: Uint8Array): Int {
  const c = new Cursor(bytes)
  c.at = bytes.lastIndexOf(0x3a) + 1
  return readNumber(c) as Int
}

/** The whole tagged record as every route shows it: defaults filled, unknown fields dropped, the secret null. @throws Unreadable */
export function recordView(payload: Uint8Array): Raw<JournalRecord> {
  return orThrow(readAs(viewShape, payload))
}

/** What a scan tells of a record. */
export interface Scan {
  readonly kind: RecordKind
  /** Unix seconds; null for a Header. */
  readonly at: Int | null
  /** Whether it changes the context window (LVR1.md 4.5). */
  readonly point: boolean
}

/** What the index wants to know of a payload, in memory that does not grow with it; an Unreadable where there is no record. */
export function scanRecord(payload: Uint8Array): Scan | Unreadable {
  const tagged = readAs(scanShape, payload)
  if (tagged instanceof Unreadable) return tagged
  const [kind, body] = Object.entries(tagged)[0] as [RecordKind, { at?: Int }]
  return { kind, at: body.at ?? null, point: POINT_KINDS.has(kind) }
}

/** Reads a payload by the shape of a record; `trusted` and `carried` as Cursor has them. */
function readAs<T>(
  shape: Shape<T>,
  payload: Uint8Array,
  trusted = false,
  carried: Cursor['carried'] = 'now',
): T | Unreadable {
  // Most of what is no record shows it at once, and nothing need be made to read it.
  if (!opensRecord(payload)) return Unreadable.of(isJson(payload) ? 'not_a_record' : 'not_json')
  return readBy(shape, payload, trusted, carried)
}

/** The same of any value's bytes. */
function readBy<T>(
  shape: Shape<T>,
  payload: Uint8Array,
  trusted = false,
  carried: Cursor['carried'] = 'now',
): T | Unreadable {
  const c = new Cursor(payload)
  c.trusted = trusted
  c.carried = carried
  if (!trusted) c.quotes = Quotes.of(payload)
  try {
    c.next()
    const value = shape.read(c) as T
    c.finish()
    return value
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    return Unreadable.of(isJson(payload) ? reasonOf(c) : 'not_json')
  }
}

function reasonOf({ path, atUnknownWord }: Cursor): string {
  if (path !== '') return `invalid: ${path}`
  return atUnknownWord ? 'unknown_kind' : 'not_a_record'
}

function orThrow<T>(value: T | Unreadable): T {
  if (value instanceof Unreadable) throw value
  return value
}

/** Canonical bytes of a RunMeta as a value. @throws Unreadable */
export function readMeta(bytes: Uint8Array): RunMeta {
  return orThrow(readBy(metaShape, bytes))
}

/**
 * The RunMeta in a payload with its `callback_secret`, or undefined when the record has none. Only for the client's
 * command that rebuilds a run folder; never call it where an answer is made (P10).
 *
 * @throws Unreadable
 */
export function readMetaWithSecret(payload: Uint8Array): RunMeta | undefined {
  const c = new Cursor(payload)
  c.secrets = true
  orThrow(readAs(recordShape, payload))
  c.next()
  const [body] = Object.values(recordShape.read(c) as Tagged<{ meta?: RunMeta }>)
  return body?.meta
}

/** The payload the reference writer would make of a record: field order, omitted fields and 32-bit floats as there. */
export function encodeRecord(record: JournalRecord): Uint8Array {
  return write(recordShape, record, true)
}

/** A whole archive of these records. */
export function encodeArchive(records: Iterable<JournalRecord>): Uint8Array {
  return concat([PREAMBLE, ...Array.from(records, (record) => encodeFrame(encodeRecord(record)))])
}
