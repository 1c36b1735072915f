import type { HeldRecord } from '../codec/index.ts'
import type { Int, RecordKind } from '../schema/index.ts'
import { POINT_KINDS } from '../schema/index.ts'
import type { Folding } from './fold.ts'
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

export interface PlacedRecord {
  readonly seq: number
  readonly record: HeldRecord
}

export const isPointKind = (kind: RecordKind): boolean => POINT_KINDS.has(kind)

/** The point that `record` made, `folding` being the state after it; undefined when it made none. */
export function pointAfter(folding: Folding, { seq, record }: PlacedRecord): Point | undefined {
  if (!folding || folding === NO_HEADER || record.at === null || !isPointKind(record.kind)) return undefined
  const { points, meta, context } = folding
  return { point: points - 1, seq, at: record.at, meta, context }
}

const WITHOUT_LISTS = { messages: false, inference_usage: false }

/** Every point, one at a time; windows share their entries, so letting go of a point frees little and keeping it costs little. */
export function* points(records: Iterable<PlacedRecord>): Generator<Point> {
  let folding: Folding
  for (const placed of records) {
    folding = fold(folding, placed.record, WITHOUT_LISTS)
    const point = pointAfter(folding, placed)
    if (point) yield point
  }
}
