import { concat, type HeldRecord, jsonChunks, type Raw, readTrusted } from '../../codec/index.ts'
import type { Folding, FoldState } from '../../fold/index.ts'
import { AppendList, fold, NO_HEADER, windowView } from '../../fold/index.ts'
import type { InferenceUsage, Message } from '../../schema/index.ts'
import type { Boundary } from './frames.ts'

// A snapshot is a state written as the shortest journal that folds to it: JSON, a line each.
//
//   {"version":1,"life":…,"seq":…,"offset":…,…}      the facts, with what records cannot say
//   {"Header":…}  {"ContextCheckpoint":…}            only where there is a state
//   {"ToolBatch":…}  {"ToolCallDone":…} …            only where a batch is open
//
// The lists that grow with the run are apart, as `Message` and `InferenceUsage` lines: those since the snapshot before.

const VERSION = 1

/** What the archive amounts to at one of its frame boundaries. */
export interface Snapshot extends Boundary {
  readonly life: number
  readonly points: number
  readonly unreadable: number
  /** Saved SHA-256 state of the bytes before `offset`, versioned text. */
  readonly hash_state: string
  /** Its lists are empty; see `Lists`. */
  readonly folding: Folding
}

/** What a run's messages and usage have gained between two snapshots, in order. */
export interface Lists {
  readonly messages: Iterable<Raw<Message>>
  readonly inference_usage: Iterable<Raw<InferenceUsage>>
}

/** A snapshot as it is written, before compression; made bit by bit, for a state may hold a frame of any size. */
export function* snapshotChunks({ folding, ...facts }: Snapshot): Generator<Uint8Array, void, undefined> {
  const isState = folding !== undefined && folding !== NO_HEADER
  const counts = isState && {
    inference_count: folding.inference_count,
    tool_call_count: folding.tool_call_count,
  }
  const first = { version: VERSION, ...facts, no_header: folding === NO_HEADER, ...counts }
  yield* lines([first, ...(isState ? recordsOf(folding) : [])])
}

/** The snapshot, or undefined where another version of this program wrote it. */
export function readSnapshot(bytes: Uint8Array): Snapshot | undefined {
  const [first, ...records] = payloads(bytes)
  const { version, no_header, inference_count, tool_call_count, ...facts } = JSON.parse(
    new TextDecoder().decode(first),
  )
  if (version !== VERSION) return undefined
  let folding: Folding = no_header ? NO_HEADER : undefined
  for (const payload of records) folding = fold(folding, readTrusted(payload))
  if (folding && folding !== NO_HEADER) {
    folding = { ...folding, inference_count, tool_call_count, points: facts.points }
  }
  return { ...facts, folding }
}

function recordsOf({ identity, meta, context, batch }: FoldState): object[] {
  const state = [
    { Header: { identity, meta: meta.raw } },
    { ContextCheckpoint: { snapshot: windowView(context), at: 0 } },
  ]
  if (!batch) return state
  const { stage_index, iteration, response, calls, results } = batch
  const done = Array.from(results, ({ call_id, result }) => ({
    ToolCallDone: { iteration, call_id, result, at: 0 },
  }))
  return [...state, { ToolBatch: { calls, at: 0, stage_index, iteration, response } }, ...done]
}

/** The lists' lines as one piece of memory; no bytes where both are empty. */
export function listBytes({ messages, inference_usage }: Lists): Uint8Array {
  const chunks = lines([
    ...Array.from(messages, (message) => ({ Message: { message, at: 0 } })),
    ...Array.from(inference_usage, (usage) => ({ InferenceUsage: usage })),
  ])
  return concat([...chunks])
}

/** The records in lists as they were written. */
export function* readLists(bytes: Uint8Array): Generator<HeldRecord, void, undefined> {
  for (const payload of payloads(bytes)) yield readTrusted(payload)
}

/** The state with what these records of the archive up to it say for the lists; other records are passed over. */
export function withLists(state: FoldState, records: Iterable<HeldRecord>): FoldState {
  const messages: Raw<Message>[] = []
  const usage: Raw<InferenceUsage>[] = []
  for (const record of records) {
    if (record.kind === 'Message') messages.push(record.message)
    if (record.kind === 'InferenceUsage') usage.push(record.usage)
  }
  return { ...state, messages: AppendList.of(messages), inference_usage: AppendList.of(usage) }
}

/** The state as a snapshot keeps it. */
export function withoutLists(state: FoldState): FoldState {
  return { ...state, messages: AppendList.of([]), inference_usage: AppendList.of([]) }
}

const NEWLINE = 0x0a

function* lines(values: Iterable<unknown>): Generator<Uint8Array, void, undefined> {
  for (const value of values) {
    yield* jsonChunks(value)
    yield Uint8Array.of(NEWLINE)
  }
}

/** Compact JSON holds no newline of its own. */
function* payloads(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, at)
    yield bytes.subarray(at, end)
    at = end + 1
  }
}
