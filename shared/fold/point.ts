import type { ArchiveItem, HeldRecord } from '../codec/index.ts'
import type { Int } from '../schema/index.ts'
import { POINT_KINDS } from '../schema/index.ts'
import type { Folding, Keep } from './fold.ts'
import { fold, NO_HEADER } from './fold.ts'
import type { PresentMeta } from './present-meta.ts'
import type { Window } from './window.ts'

/** The context window after one record that may have changed it (LVR1.md 4.5), numbered from 0. */
export interface Point {
  readonly point: number
  /** The frame number of that record. */
  readonly seq: number
  readonly at: Int
  readonly meta: PresentMeta
  readonly context: Window
}

/** A record and the frame number it has. */
export interface PlacedRecord {
  readonly seq: number
  readonly record: HeldRecord
}

/** The point that `record` made, `folding` being the state after it; undefined when it made none. */
export function pointAfter(folding: Folding, { seq, record }: PlacedRecord): Point | undefined {
  if (!folding || folding === NO_HEADER || !POINT_KINDS.has(record.kind) || record.at === null)
    return undefined
  const { points, meta, context } = folding
  return { point: points - 1, seq, at: record.at, meta, context }
}

/** Points need no lists that grow with the run. */
export const WITHOUT_LISTS: Keep = { messages: false, inference_usage: false }

/** Summaries of points need no entries either. */
export const COUNTS: Keep = { ...WITHOUT_LISTS, entries: false }

/**
 * Every point of an archive as it is read, one at a time; what is no record is passed over. Windows share their entries,
 * so keeping all points costs little more than keeping the last.
 */
export function points(items: Iterable<ArchiveItem>): Generator<Point, void, undefined>
export function points(items: AsyncIterable<ArchiveItem>): AsyncGenerator<Point, void, undefined>
export function points(items: Iterable<ArchiveItem> | AsyncIterable<ArchiveItem>) {
  return Symbol.iterator in items ? pointsOf(items) : pointsOfStream(items)
}

function* pointsOf(items: Iterable<ArchiveItem>): Generator<Point, void, undefined> {
  const step = stepper()
  for (const item of items) {
    const point = step(item)
    if (point) yield point
  }
}

async function* pointsOfStream(items: AsyncIterable<ArchiveItem>): AsyncGenerator<Point, void, undefined> {
  const step = stepper()
  for await (const item of items) {
    const point = step(item)
    if (point) yield point
  }
}

function stepper(): (item: ArchiveItem) => Point | undefined {
  let folding: Folding
  return (item) => {
    if (item.type !== 'record') return undefined
    folding = fold(folding, item.record, WITHOUT_LISTS)
    return pointAfter(folding, { seq: item.frame.seq, record: item.record })
  }
}
