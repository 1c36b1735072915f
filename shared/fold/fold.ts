import { callCount, type HeldRecord, type Raw } from '../codec/index.ts'
import type { InferenceUsage, Message, PendingBatch, RunIdentity } from '../schema/index.ts'
import { AppendList } from './entries.ts'
import { madeWindow, windowAfter } from './later-window.ts'
import { OpenBatch, pendingAtEnd } from './pending.ts'
import { PresentMeta } from './present-meta.ts'
import type { Window } from './window.ts'
import { EMPTY_WINDOW } from './window.ts'

/** Everything the records so far amount to. Persistent: an older state stays what it was. */
export interface FoldState {
  readonly identity: RunIdentity
  readonly meta: PresentMeta
  readonly context: Window
  readonly messages: AppendList<Raw<Message>>
  readonly inference_count: number
  readonly inference_usage: AppendList<Raw<InferenceUsage>>
  readonly tool_call_count: number
  readonly batch: OpenBatch | null
  /** How many points there have been (LVR1.md 4.5). */
  readonly points: number
}

/** The first readable record was no Header; nothing that follows can mend it. */
export const NO_HEADER = 'no_header'

/** Undefined before the first readable record. */
export type Folding = FoldState | typeof NO_HEADER | undefined

/** Lists that grow with the run; whoever does not need them need not keep them. */
export interface Keep {
  readonly messages: boolean
  readonly inference_usage: boolean
  /**
   * False where entries are only counted, of records read so (`readLater`): windows then have empty places for them, tool
   * calls are passed over, and a state keeps nothing of the payloads.
   */
  readonly entries?: false
}

/** fold(records) of LVR1.md 4.3, one record further. Pass readable records only, in order. */
export function fold(folding: Folding, record: HeldRecord, keep?: Keep): Folding {
  if (folding === NO_HEADER) return NO_HEADER
  if (folding)
    return keep?.entries === false ? settled(step(folding, record, keep)) : step(folding, record, keep)
  if (record.kind !== 'Header') return NO_HEADER
  return keep?.entries === false ? settled(begin(record)) : begin(record)
}

function begin(header: Extract<HeldRecord, { kind: 'Header' }>): FoldState {
  return {
    identity: header.identity,
    meta: PresentMeta.of(header),
    context: EMPTY_WINDOW,
    messages: AppendList.of([]),
    inference_count: 0,
    inference_usage: AppendList.of([]),
    tool_call_count: 0,
    batch: null,
    points: 0,
  }
}

function step(state: FoldState, record: HeldRecord, keep?: Keep): FoldState {
  switch (record.kind) {
    case 'Header': // the window is kept
      return { ...state, identity: record.identity, meta: PresentMeta.of(record) }
    case 'OwnershipChanged': {
      const { machine_id, world_id } = record
      return { ...state, identity: { ...state.identity, machine_id, world_id } }
    }
    case 'Inference':
      return { ...state, inference_count: state.inference_count + 1 }
    case 'InferenceUsage': {
      const usage = state.inference_usage
      const inference_usage = keep?.inference_usage === false ? usage : usage.append([record.usage])
      return { ...state, inference_count: state.inference_count + 1, inference_usage }
    }
    case 'ToolBatch': {
      if (keep?.entries === false) return state
      const tool_call_count = state.tool_call_count + callCount(record)
      return { ...state, tool_call_count, batch: new OpenBatch(record) }
    }
    case 'ToolCallDone':
      return state.batch ? { ...state, batch: state.batch.take(record) } : state
    case 'Message':
      return keep?.messages === false
        ? state
        : { ...state, messages: state.messages.append([record.message]) }
    case 'StatusChanged': // until the next Header, Checkpoint or Progress
      return { ...state, meta: state.meta.withStatus(record.status) }
    case 'ContextCheckpoint':
    case 'ContextDiff':
      return pointed(state, state.meta, windowAfter(state.context, record))
    case 'Checkpoint':
    case 'Progress':
      return pointed(state, PresentMeta.of(record), windowAfter(state.context, record))
    default:
      return unknownKind(record)
  }
}

/** All is read of it that summaries show. */
function settled(state: FoldState): FoldState {
  const context = madeWindow(state.context)
  const { facts: _ } = state.meta
  return context === state.context ? state : { ...state, context }
}

const pointed = (state: FoldState, meta: PresentMeta, context: Window): FoldState => ({
  ...state,
  meta,
  context,
  points: state.points + 1,
})

function unknownKind(record: never): never {
  throw new TypeError(`the fold knows no record kind ${(record as HeldRecord).kind}`)
}

/** The pending batch as of this state (LVR1.md 4.4); it looks at the window, so ask only when it is wanted. */
export function pendingBatchOf(state: FoldState): PendingBatch | null {
  return pendingAtEnd(state.batch, state.meta.facts.iteration, state.context)
}
