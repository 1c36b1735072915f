import type { InferenceUsage, Int, Message, RecordKind } from '../schema/index.ts'
import type { HeldDelta, HeldRecord, HeldWindow } from './held.ts'
import { Ends } from './json/ends.ts'
import { LaterRaw, type Raw } from './raw.ts'
import { readLoosely, readTrusted, usageLater } from './record.ts'
import { timeAtEnd, timeBehind } from './time.ts'

// Most of what a run writes is replaced by what it writes next: windows, metas, results of tools. So a record of trusted
// bytes is only opened when somebody asks for what it holds.

type Carried = 'later' | 'counted'
type Of<Kind extends RecordKind> = Extract<HeldRecord, { kind: Kind }>

/**
 * The same record as `readTrusted` gives, of a payload that was found readable before; what it holds may be read when
 * somebody asks for it.
 *
 * @param entries `counted` where nobody will ask for an entry: lists of entries then have empty places
 * @throws Unreadable at once or, of bytes that are not as they were found, when it is asked
 */
export function readLater(payload: Uint8Array, entries: Carried = 'later'): HeldRecord {
  for (const { kind, opening } of OPENINGS) {
    if (!startsWith(payload, opening)) continue
    const at = timeAtEnd(payload)
    if (at !== undefined) return new LaterRecord(kind, at, payload, entries) as HeldRecord
  }
  return laterBatch(payload, entries) ?? readLoosely(payload, entries)
}

/** How many bytes wait in a record to be read. */
export const waitingBytes = (record: HeldRecord): number =>
  (record as object) instanceof LaterRecord ? (record as object as LaterRecord).waiting : 0

/** How many calls a batch has, which is known before it is read. */
export const callCount = (record: Of<'ToolBatch'>): number =>
  (record as object) instanceof LaterRecord
    ? (record as object as LaterRecord).callCount
    : record.calls.length

const encoder = new TextEncoder()

const OPENINGS = (
  [
    'Progress',
    'ToolCallDone',
    'InferenceUsage',
    'ContextCheckpoint',
    'ContextDiff',
    'Checkpoint',
    'Message',
    'Inference',
  ] as const
).map((kind) => ({ kind, opening: encoder.encode(`{"${kind}":{`) }))

type LaterKind = (typeof OPENINGS)[number]['kind'] | 'ToolBatch'

const USAGE = encoder.encode('{"InferenceUsage":{')
const CALLS = encoder.encode('{"ToolBatch":{"calls":[')

/** A ToolBatch that begins as writers begin it; its time is not at its end, but behind its calls. */
function laterBatch(payload: Uint8Array, entries: Carried): HeldRecord | undefined {
  if (!startsWith(payload, CALLS)) return undefined
  // Where entries are only counted, hardly anybody asks for calls.
  if (entries === 'counted') return new LaterRecord('ToolBatch', undefined, payload, entries) as HeldRecord
  const ends = new Ends(payload)
  if (!ends.isOfObjects(CALLS.length - 1)) return undefined
  const at = timeBehind(payload, ends.end(ends.count))
  if (at === undefined) return undefined
  return new LaterRecord('ToolBatch', at, payload, entries, ends.count) as HeldRecord
}

/** A record of which only its kind is known yet, and mostly its time. */
class LaterRecord {
  readonly kind: LaterKind
  readonly #at: Int | undefined
  readonly #callCount: number | undefined
  readonly #payload: Uint8Array
  readonly #entries: Carried
  #opened: HeldRecord | undefined

  constructor(
    kind: LaterKind,
    at: Int | undefined,
    payload: Uint8Array,
    entries: Carried,
    callCount?: number,
  ) {
    this.kind = kind
    this.#callCount = callCount
    this.#at = at
    this.#payload = payload
    this.#entries = entries
  }

  get at(): Int {
    return this.#at ?? this.#open<LaterKind>().at
  }

  get callCount(): number {
    return this.#callCount ?? this.calls.length
  }

  get waiting(): number {
    return this.#opened === undefined ? this.#payload.length : 0
  }

  get meta(): Of<'Progress' | 'Checkpoint'>['meta'] {
    return this.#open<'Progress' | 'Checkpoint'>().meta
  }

  get delta(): HeldDelta {
    return this.#open<'Progress' | 'ContextDiff'>().delta
  }

  get snapshot(): HeldWindow {
    return this.#open<'ContextCheckpoint'>().snapshot
  }

  get context(): HeldWindow {
    return this.#open<'Checkpoint'>().context
  }

  get calls(): Of<'ToolBatch'>['calls'] {
    return this.#open<'ToolBatch'>().calls
  }

  get stage_index(): Int {
    return this.#open<'ToolBatch'>().stage_index
  }

  get iteration(): Int {
    return this.#open<'ToolBatch' | 'ToolCallDone'>().iteration
  }

  get response(): Raw<string> {
    return this.#open<'ToolBatch'>().response
  }

  get call_id(): string {
    return this.#open<'ToolCallDone'>().call_id
  }

  get result(): Raw<string> {
    return this.#open<'ToolCallDone'>().result
  }

  get inference(): Of<'Inference'>['inference'] {
    return this.#open<'Inference'>().inference
  }

  get usage(): Raw<InferenceUsage> {
    return usageLater(this.#payload, USAGE.length - 1, this.#payload.length - 1)
  }

  get message(): Raw<Message> {
    return new LaterRaw(this.#payload, (payload) => (readTrusted(payload) as Of<'Message'>).message)
  }

  #open<Kind extends LaterKind>(): Of<Kind> {
    this.#opened ??= readLoosely(this.#payload, this.#entries)
    return this.#opened as Of<Kind>
  }
}

function startsWith(bytes: Uint8Array, opening: Uint8Array): boolean {
  for (let i = 0; i < opening.length; i++) if (bytes[i] !== opening[i]) return false
  return true
}
