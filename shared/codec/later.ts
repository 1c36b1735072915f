import type { InferenceUsage, Int, Message, RecordKind } from '../schema/index.ts'
import type { HeldDelta, HeldRecord, HeldWindow } from './held.ts'
import { LaterRaw, type Raw } from './raw.ts'
import { readLoosely, readTrusted } from './record.ts'

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
  return readLoosely(payload, entries)
}

/** How many bytes wait in a record to be read. */
export const waitingBytes = (record: HeldRecord): number =>
  (record as object) instanceof LaterRecord ? (record as object as LaterRecord).waiting : 0

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
).map((kind) => ({ kind, opening: new TextEncoder().encode(`{"${kind}":{`) }))

type LaterKind = (typeof OPENINGS)[number]['kind']

/** A record of which only its kind and its time are known yet. */
class LaterRecord {
  readonly kind: LaterKind
  readonly at: Int
  readonly #payload: Uint8Array
  readonly #entries: Carried
  #opened: HeldRecord | undefined

  constructor(kind: LaterKind, at: Int, payload: Uint8Array, entries: Carried) {
    this.kind = kind
    this.at = at
    this.#payload = payload
    this.#entries = entries
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

  get iteration(): Int {
    return integerAt(this.#payload, ITERATION) ?? this.#open<'ToolCallDone'>().iteration
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
    return new LaterRaw(this.#payload, (payload) => (readTrusted(payload) as Of<'InferenceUsage'>).usage)
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

const ITERATION = new TextEncoder().encode('{"ToolCallDone":{"iteration":')

/** The number of at most 15 digits behind this opening. */
function integerAt(bytes: Uint8Array, opening: Uint8Array): number | undefined {
  if (!startsWith(bytes, opening)) return undefined
  const first = opening.length
  let value = 0
  let at = first
  for (; isDigit(bytes[at]); at++) value = value * 10 + (bytes[at] as number) - 0x30
  return at > first && at - first <= MOST_DIGITS ? value : undefined
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39

/** `,"at":` from its end. */
const NAME = new TextEncoder().encode(',"at":').reverse()
const MOST_DIGITS = 15

/**
 * The time of a readable record whose body ends in `,"at":…}}`. Two braces at the very end close the body and the record, so
 * what is before them is the body's last member; and a quote behind a comma that closed a string would leave `at` outside.
 */
function timeAtEnd(bytes: Uint8Array): Int | undefined {
  let at = bytes.length - 3
  if (bytes[at + 1] !== 0x7d || bytes[at + 2] !== 0x7d) return undefined
  let time = 0
  let power = 1
  const last = at
  for (; at > 0; at--, power *= 10) {
    const digit = (bytes[at] as number) - 0x30
    if (digit < 0 || digit > 9) break
    time += digit * power
  }
  const count = last - at
  if (count === 0 || count > MOST_DIGITS) return undefined
  const isNegative = bytes[at] === 0x2d
  if (isNegative) at--
  for (const letter of NAME) if (bytes[at--] !== letter) return undefined
  return isNegative ? -time : time
}
