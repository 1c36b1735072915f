import { type HeldRecord, readRecord, Unreadable } from '../../codec/index.ts'
import type { Folding, FoldState, Keep } from '../../fold/index.ts'
import { fold, NO_HEADER } from '../../fold/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import type { Boundary } from './frames.ts'
import { BEGINNING, framesFrom } from './frames.ts'
import type { ArchiveView } from './view.ts'

/** The state after a number of frames, and where the next one begins. */
export interface StateAt extends Boundary {
  readonly folding: Folding
}

/** The state after one frame; `record` is undefined where the frame is unreadable. */
export interface Step extends StateAt {
  readonly record: HeldRecord | undefined
}

/** A moment of a run: after `seq` frames, after point `point`, or after the last frame whose time is at or before `at`. */
export type Place = { readonly seq: number } | { readonly point: number } | { readonly at: number }

/**
 * The nearest known state at or before a place, where folding can begin. Every read of states and points begins here,
 * so a snapshot that is nearer than the beginning needs to be known to this function alone.
 */
export async function stateBefore(_view: ArchiveView, _place: Place): Promise<StateAt> {
  return { ...BEGINNING, folding: undefined }
}

/** Folds on from a state, handing out the state after every frame; unreadable frames count as frames and change nothing. */
export async function* statesFrom(view: ArchiveView, start: StateAt, keep?: Keep): AsyncGenerator<Step> {
  let folding: Folding = start.folding
  for await (const frame of framesFrom(view, start)) {
    const record = readableRecord(frame.payload)
    if (record) folding = fold(folding, record, keep)
    yield { seq: frame.seq + 1, offset: frame.offset + frame.length, folding, record }
  }
}

/** Throws `range_not_satisfiable` past the end, and `bad_frames` with reason `no_header` where nothing can be folded. */
export async function stateAt(
  view: ArchiveView,
  place: Place,
  keep?: Keep,
): Promise<Boundary & { readonly state: FoldState }> {
  checkPlace(view, place)
  const { seq, offset, folding } = await findState(view, place, keep)
  if (folding && folding !== NO_HEADER) return { seq, offset, state: folding }
  throw new RunfoldError('bad_frames', 'the first readable record is not a Header', {
    reason: 'no_header',
    offset: BEGINNING.offset,
    frame: 0,
  })
}

async function findState(view: ArchiveView, place: Place, keep?: Keep): Promise<StateAt> {
  const start = await stateBefore(view, place)
  let found = start
  if ('seq' in place && place.seq === start.seq) return start
  for await (const state of statesFrom(view, start, keep)) {
    if ('at' in place) {
      // Times may run backwards, so the last frame in time is known only at the end; states are persistent, keeping one is free.
      if (state.record && state.record.at !== null && state.record.at <= place.at) found = state
      continue
    }
    if ('seq' in place ? state.seq === place.seq : hasPoint(state.folding, place.point)) return state
  }
  if ('at' in place) return found
  throw new RunfoldError('internal', 'the head counts more than the archive holds', { tail: view.head.tail })
}

const hasPoint = (folding: Folding, point: number) =>
  folding !== undefined && folding !== NO_HEADER && folding.points > point

function checkPlace({ head }: ArchiveView, place: Place): void {
  if ('seq' in place && place.seq > head.frames) throw pastTheEnd(head.tail, `${head.frames} frames`)
  if ('point' in place && place.point >= head.points) throw pastTheEnd(head.tail, `${head.points} points`)
}

export function pastTheEnd(tail: number, what: string): RunfoldError {
  return new RunfoldError('range_not_satisfiable', `the archive has ${what}`, { tail })
}

/** The record of a stored frame; undefined when it is unreadable, which is kept and counted but never refused. */
function readableRecord(payload: Uint8Array): HeldRecord | undefined {
  try {
    return readRecord(payload)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}
