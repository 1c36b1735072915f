import { scanRecord, Unreadable } from '../../codec/index.ts'
import type { Folding, FoldState, Keep } from '../../fold/index.ts'
import { NO_HEADER, noHeader } from '../../fold/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import type { Boundary } from './frames.ts'
import { BEGINNING, framesFrom } from './frames.ts'
import type { SnapshotEntry } from './snapshot-index.ts'
import { entryBefore, entryBeforePoint, snapshotsOf } from './snapshots.ts'
import { type StateAt, stateFrom, statesFrom, statesSince } from './states.ts'
import type { ArchiveView } from './view.ts'
import type { WarmStates } from './warm.ts'

/** A moment of a run: after `seq` frames, after point `point`, or after the last frame whose time is at or before `at`. */
export type Place = { readonly seq: number } | { readonly point: number } | { readonly at: number }

/** Throws `range_not_satisfiable` past the end, and `bad_frames` with reason `no_header` where nothing can be folded. */
export async function stateAt(
  view: ArchiveView,
  place: Place,
  keep?: Keep,
): Promise<Boundary & { readonly state: FoldState }> {
  checkPlace(view, place)
  const { seq, offset, folding } = await findState(view, place, keep)
  if (folding && folding !== NO_HEADER) return { seq, offset, state: folding }
  throw noHeader(folding, place)
}

async function findState(view: ArchiveView, place: Place, keep?: Keep): Promise<StateAt> {
  if ('at' in place) return findInTime(view, place.at, keep)
  if (view.warm && 'seq' in place && place.seq === view.head.frames) return findPresent(view, view.warm, keep)
  const snapshots = await snapshotsOf(view)
  const n = 'seq' in place ? entryBefore(snapshots, place.seq) : entryBeforePoint(snapshots, place.point)
  if ('seq' in place && place.seq === snapshots.boundary(n).seq) {
    const start = await stateFrom(view, n, keep)
    if (start.seq === place.seq) return start
  }
  for await (const states of statesSince(view, n, keep, snapshots.endOfStretch(n))) {
    for (const state of states) {
      if ('seq' in place ? state.seq === place.seq : hasPoint(state.folding, place.point)) return state
    }
  }
  throw miscounted(view)
}

function miscounted({ head: { tail } }: ArchiveView): RunfoldError {
  return new RunfoldError('internal', 'the head counts more than the archive holds', { tail })
}

/** From where this process left off, or from the newest snapshot; kept for the next time. */
async function findPresent(
  view: ArchiveView,
  warm: WarmStates,
  keep: Keep = { messages: true, inference_usage: true },
): Promise<StateAt> {
  const found = warm.find(view, keep)
  const known = found && found.offset >= (view.head.snapshot?.offset ?? 0) ? found : undefined
  const isListed = known ? known.isListed : keep.messages && keep.inference_usage
  const kept = isListed ? undefined : keep
  const newest = known ? -1 : (await snapshotsOf(view)).entries.length - 1
  let state: StateAt | undefined = known
  for await (const states of known ? statesFrom(view, known, kept) : statesSince(view, newest, kept)) {
    for (const { seq, offset, folding } of states) state = { seq, offset, folding }
  }
  if (state?.seq !== view.head.frames) throw miscounted(view)
  if (state !== known) warm.put(view, state, isListed)
  return state
}

/** Times may run backwards, so the last frame in time is known only at the end of the last stretch that has one in time. */
async function findInTime(view: ArchiveView, at: number, keep?: Keep): Promise<StateAt> {
  const stretch = await stretchInTime(view, at)
  if (stretch === undefined) return { ...BEGINNING, folding: undefined }
  const end = (await snapshotsOf(view)).endOfStretch(stretch)
  let found: StateAt | undefined
  for await (const states of statesSince(view, stretch, keep, end)) {
    for (const state of states) {
      // States are persistent, so keeping one is free.
      const isInTime = state.record && state.record.at !== null && state.record.at <= at
      if (!found || isInTime) found = state
    }
  }
  return found ?? { ...BEGINNING, folding: undefined }
}

/** The entry that the last stretch begins with in which a record's time is at or before `at`. */
async function stretchInTime(view: ArchiveView, at: number): Promise<number | undefined> {
  const { entries, boundary } = await snapshotsOf(view)
  const last = entries.length - 1
  for await (const { payload } of framesFrom(view, boundary(last))) {
    const scan = scanRecord(payload)
    if (!(scan instanceof Unreadable) && scan.at !== null && scan.at <= at) return last
  }
  for (let n = last; n >= 0; n--) {
    const { least_at } = entries[n] as SnapshotEntry
    if (least_at !== null && least_at <= at) return n - 1
  }
  return undefined
}

const hasPoint = (folding: Folding, point: number) =>
  folding !== undefined && folding !== NO_HEADER && folding.points > point

/** @throws range_not_satisfiable past the end */
export function checkPlace({ head }: ArchiveView, place: Place): void {
  if ('seq' in place && place.seq > head.frames) throw pastTheEnd(head.tail, `${head.frames} frames`)
  if ('point' in place && place.point >= head.points) throw pastTheEnd(head.tail, `${head.points} points`)
}

/** The refusal of a place behind the end; `what` says how much there is, such as `12 frames`. */
export function pastTheEnd(tail: number, what: string): RunfoldError {
  return new RunfoldError('range_not_satisfiable', `the archive has ${what}`, { tail })
}
