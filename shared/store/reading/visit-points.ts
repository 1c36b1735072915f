import type { Folding, Keep, Point, Window } from '../../fold/index.ts'
import { EMPTY_WINDOW, NO_HEADER, pointAfter, WITHOUT_LISTS } from '../../fold/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import { entryBeforePoint, type Snapshots, snapshotsOf } from './snapshots.ts'
import { type StateAt, stateFrom, statesFrom, statesSince } from './states.ts'
import type { ArchiveView } from './view.ts'

/** A point and the window of the point before it, which a delta starts from. */
export interface Visit {
  readonly point: Point
  readonly previous: Window
}

/**
 * Visits these points, whose numbers ascend and exist, from `start` (default: the nearest snapshot), leaping over what lies far
 * between.
 *
 * @param keep `COUNTS` where entries are only counted; then a visit's meta says no more than its facts
 */
export async function* visitPoints(
  view: ArchiveView,
  numbers: Iterable<number>,
  keep: Keep = WITHOUT_LISTS,
  start?: StateAt,
): AsyncGenerator<Visit> {
  const snapshots = await snapshotsOf(view)
  let reached = start
  for (const { first, wanted, isLeap } of legsOf(snapshots, numbers)) {
    const end = snapshots.endOfStretch(entryBeforePoint(snapshots, wanted.at(-1) as number))
    const batches =
      reached && !isLeap ? statesFrom(view, reached, keep, end) : statesSince(view, first, keep, end)
    let next = 0
    let previous = windowIn(reached?.folding)
    for await (const states of batches) {
      for (const state of states) {
        const point = state.record && pointAfter(state.folding, { seq: state.seq - 1, record: state.record })
        if (!point) {
          previous = windowIn(state.folding)
          continue
        }
        if (point.point === wanted[next]) {
          yield { point, previous }
          next++
        }
        previous = point.context
        reached = state
        if (next === wanted.length) break
      }
      if (next === wanted.length) break
    }
    if (next < wanted.length) {
      throw new RunfoldError('internal', `the archive has no point ${wanted[next]}, but its head counts it`)
    }
  }
}

/** Points that are visited in one sweep over the archive. */
interface Leg {
  /** The entry it can begin at. */
  readonly first: number
  readonly wanted: readonly number[]
  /** Whether at least one whole stretch lies between the leg before and this one. */
  readonly isLeap: boolean
}

/** Numbers held at once. */
const MAX_LEG = 65_536

function* legsOf(snapshots: Snapshots, numbers: Iterable<number>): Generator<Leg> {
  let wanted: number[] = []
  let first = -1
  let isLeap = false
  let last = -1
  for (const number of numbers) {
    const entry = entryBeforePoint(snapshots, number)
    const isFar = entry >= last + 2
    if (wanted.length > 0 && (isFar || wanted.length === MAX_LEG)) {
      yield { first, wanted, isLeap }
      wanted = []
      isLeap = isFar
    }
    if (wanted.length === 0) first = entry
    wanted.push(number)
    last = entry
  }
  if (wanted.length > 0) yield { first, wanted, isLeap }
}

/** Points in one block of a descending walk; one state is kept per block of a stretch, and one block of points at a time. */
export const BLOCK_POINTS = 256

/** The same for numbers that descend: the blocks of a stretch are marked in one pass, then visited from the end. */
export async function* visitPointsDown(
  view: ArchiveView,
  numbers: Iterable<number>,
  keep: Keep = WITHOUT_LISTS,
): AsyncGenerator<Visit> {
  const snapshots = await snapshotsOf(view)
  let marks: ReadonlyMap<number, StateAt> = new Map()
  for (const [block, wanted] of inBlocks(numbers)) {
    const ascending = wanted.reverse()
    const nearest = snapshots.entries[entryBeforePoint(snapshots, ascending[0] as number)]
    const isInside = nearest !== undefined && nearest.points >= block * BLOCK_POINTS
    if (!isInside && !marks.has(block)) marks = await markBlocks(view, block, keep)
    const visits: Visit[] = []
    const start = isInside ? undefined : marks.get(block)
    for await (const visit of visitPoints(view, ascending, keep, start)) visits.push(visit)
    yield* visits.reverse()
  }
}

/** The states before the first points of a block and of the blocks before it, as far back as the nearest snapshot. */
async function markBlocks(
  view: ArchiveView,
  block: number,
  keep: Keep,
): Promise<ReadonlyMap<number, StateAt>> {
  const snapshots = await snapshotsOf(view)
  const entry = entryBeforePoint(snapshots, block * BLOCK_POINTS)
  const start = await stateFrom(view, entry, keep)
  const marks = new Map<number, StateAt>()
  let next = Math.ceil(pointsIn(start.folding) / BLOCK_POINTS)
  const mark = (state: StateAt) => {
    if (pointsIn(state.folding) === next * BLOCK_POINTS) marks.set(next++, state)
  }
  mark(start)
  if (next > block) return marks
  for await (const states of statesFrom(view, start, keep, snapshots.endOfStretch(entry))) {
    for (const state of states) {
      mark(state)
      if (next > block) return marks
    }
  }
  return marks
}

const pointsIn = (folding: Folding): number => (folding && folding !== NO_HEADER ? folding.points : 0)

function* inBlocks(numbers: Iterable<number>): Generator<[block: number, numbers: number[]]> {
  let block = -1
  let together: number[] = []
  for (const number of numbers) {
    const its = Math.floor(number / BLOCK_POINTS)
    if (its !== block && together.length > 0) yield [block, together]
    if (its !== block) together = []
    block = its
    together.push(number)
  }
  if (together.length > 0) yield [block, together]
}

const windowIn = (folding: Folding): Window =>
  folding && folding !== NO_HEADER ? folding.context : EMPTY_WINDOW
