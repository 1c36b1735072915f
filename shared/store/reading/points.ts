import { COUNTS, changeView, type PointShape, pointView, WITHOUT_LISTS } from '../../fold/index.ts'
import type { PointsQuery } from '../../schema/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { PAGE_BYTES } from './records.ts'
import { selectPoints } from './select-points.ts'
import { pastTheEnd } from './state-at.ts'
import type { ArchiveView } from './view.ts'
import type { Visit } from './visit-points.ts'
import { visitPoints, visitPointsDown } from './visit-points.ts'

// Values for the codec's JSON writer (schema/reading.ts: pointsAnswer, fullPoint, diffAnswer).

/** A point in the shape that was asked for. */
export type PointItem = ReturnType<typeof pointView>

/** `next_cursor` is null where no further point is asked for. */
export interface PointsPage {
  readonly items: readonly PointItem[]
  readonly next_cursor: string | null
}

/** One page, cut short where its items would grow over PAGE_BYTES. */
export async function pointsPage(view: ArchiveView, query: PointsQuery): Promise<PointsPage> {
  const numbers: number[] = []
  let next: number | undefined
  for (const number of await numbersOf(view, query)) {
    next = number
    if (numbers.length === query.limit) break
    numbers.push(number)
    next = undefined
  }
  const items: PointItem[] = []
  let bytes = 0
  for await (const visit of visitsOf(view, numbers, query)) {
    bytes += weigh(visit, query.shape)
    if (items.length > 0 && bytes > PAGE_BYTES) {
      next = visit.point.point
      break
    }
    items.push(pointView(visit.point, query.shape, visit.previous))
  }
  return { items, next_cursor: next === undefined ? null : await writeCursor(bindingOf(view, query), [next]) }
}

/** All points of the question, one at a time. */
export async function* pointsStream(
  view: ArchiveView,
  query: Omit<PointsQuery, 'limit'>,
): AsyncGenerator<PointItem> {
  for await (const { point, previous } of visitsOf(view, await numbersOf(view, query), query)) {
    yield pointView(point, query.shape, previous)
  }
}

/** `GET …/points/{n}`. */
export async function pointAnswer(view: ArchiveView, number: number): Promise<PointItem> {
  const { points } = view.head
  if (number >= points)
    throw new RunfoldError('not_found', `there is no point ${number}; the run has ${points}`)
  const [visit] = await all(visitPoints(view, [number]))
  return pointView((visit as Visit).point, 'full')
}

/** `GET …/diff`: a delta that makes the window of the first point that of the second. */
export async function diffAnswer(view: ArchiveView, { from, to }: { from: number; to: number }) {
  const { points, tail } = view.head
  if (Math.max(from, to) >= points) throw pastTheEnd(tail, `${points} points`)
  const ascending = [...new Set([from, to])].sort((a, b) => a - b)
  const visits = await all(visitPoints(view, ascending))
  const [low, high] = [visits[0] as Visit, visits.at(-1) as Visit]
  const [first, second] = from <= to ? [low, high] : [high, low]
  return { from, to, ...changeView(first.point.context, second.point.context) }
}

function visitsOf(
  view: ArchiveView,
  numbers: Iterable<number>,
  { order, shape }: Pick<PointsQuery, 'order' | 'shape'>,
): AsyncGenerator<Visit> {
  const keep = shape === 'summary' ? COUNTS : WITHOUT_LISTS
  return order === 'asc' ? visitPoints(view, numbers, keep) : visitPointsDown(view, numbers, keep)
}

async function numbersOf(view: ArchiveView, query: Omit<PointsQuery, 'limit'>): Promise<Iterable<number>> {
  const resume = query.cursor === undefined ? [] : await readCursor(bindingOf(view, query), query.cursor)
  return selectPoints(view.head.points, query, resume[0])
}

function bindingOf({ run, head }: ArchiveView, { from, order, shape, step }: Omit<PointsQuery, 'limit'>) {
  return ['points', run.tenant, run.run_id, head.life, from ?? null, order, shape, step ?? null]
}

/**
 * About how many bytes an item takes, so that a page of huge windows ends early. A delta counts the entries a region has
 * gained, or all of them where it was written anew.
 */
function weigh({ point, previous }: Visit, shape: PointShape): number {
  const before = new Map(previous.regions.map((region) => [region.name, region.entries]))
  let bytes = shape === 'summary' ? 256 : point.meta.raw.bytes.length
  for (const { name, entries } of point.context.regions) {
    bytes += 128 + name.length
    if (shape === 'summary') continue
    const old = shape === 'delta' ? before.get(name) : undefined
    const known = old && entries.startsWith(old, (a, b) => a === b) ? old.length : 0
    for (const { bytes: written } of entries.from(known)) bytes += written.length
  }
  return bytes
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
