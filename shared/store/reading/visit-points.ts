import type { Folding, Point, Window } from '../../fold/index.ts'
import { EMPTY_WINDOW, NO_HEADER, pointAfter, WITHOUT_LISTS } from '../../fold/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import type { StateAt } from './state-at.ts'
import { stateBefore, statesFrom } from './state-at.ts'
import type { ArchiveView } from './view.ts'

/** A point and the window of the point before it, which a delta starts from. */
export interface Visit {
  readonly point: Point
  readonly previous: Window
}

/** Visits these points, whose numbers ascend and exist, in one pass from `start` (default: the nearest known state). */
export async function* visitPoints(
  view: ArchiveView,
  numbers: Iterable<number>,
  start?: StateAt,
): AsyncGenerator<Visit> {
  const source = numbers[Symbol.iterator]()
  let wanted = source.next()
  if (wanted.done) return
  const begin =
    start ?? (await stateBefore(view, wanted.value > 0 ? { point: wanted.value - 1 } : { seq: 0 }))
  let previous = windowIn(begin.folding)
  for await (const state of statesFrom(view, begin, WITHOUT_LISTS)) {
    const point = state.record && pointAfter(state.folding, { seq: state.seq - 1, record: state.record })
    if (!point) continue
    if (point.point === wanted.value) {
      yield { point, previous }
      wanted = source.next()
      if (wanted.done) return
    }
    previous = point.context
  }
  throw new RunfoldError('internal', `the archive has no point ${wanted.value}, but its head counts it`)
}

/** Points in one block of a descending walk; one state is kept per block, and one block of points at a time. */
export const BLOCK_POINTS = 256

/** The same for numbers that descend: one pass marks a state before each block, then the blocks are visited from the end. */
export async function* visitPointsDown(view: ArchiveView, numbers: Iterable<number>): AsyncGenerator<Visit> {
  let marks: StateAt[] | undefined
  for (const [block, wanted] of inBlocks(numbers)) {
    marks ??= await markBlocks(view, block)
    const visits: Visit[] = []
    for await (const visit of visitPoints(view, wanted.reverse(), marks[block])) visits.push(visit)
    yield* visits.reverse()
  }
}

/** The states before the first point of blocks 0 … last. */
async function markBlocks(view: ArchiveView, last: number): Promise<StateAt[]> {
  const start = await stateBefore(view, { seq: 0 })
  const marks = [start]
  if (last === 0) return marks
  for await (const state of statesFrom(view, start, WITHOUT_LISTS)) {
    const { folding } = state
    if (!folding || folding === NO_HEADER || folding.points < marks.length * BLOCK_POINTS) continue
    marks.push(state)
    if (marks.length > last) break
  }
  return marks
}

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
