import type { Frame, Raw } from '../../codec/index.ts'
import { recordView, scanRecord, Unreadable } from '../../codec/index.ts'
import type { Int, JournalRecord, RecordKind, RecordsQuery } from '../../schema/index.ts'
import { readCursor, writeCursor } from './cursor.ts'
import type { Boundary } from './frames.ts'
import { framesFrom } from './frames.ts'
import { entryBefore, snapshotsOf } from './snapshots.ts'
import type { ArchiveView } from './view.ts'

/** A frame of `GET …/records`, for the codec's JSON writer (schema/reading.ts, recordItem). */
export interface FrameItem {
  readonly seq: number
  readonly offset: number
  readonly length: number
  readonly kind: RecordKind | null
  readonly at: Int | null
  readonly record: Raw<JournalRecord> | null
  readonly unreadable?: string
}

/** See `recordsPage`. */
export interface RecordsPage {
  readonly items: readonly FrameItem[]
  readonly next_cursor: string | null
}

type RecordsQuestion = Pick<RecordsQuery, 'from' | 'to' | 'kind' | 'cursor'>

/** A page holds no more bytes of frames than this, unless its first frame alone does. */
export const PAGE_BYTES = 4 * 1024 * 1024

/**
 * One page. `next_cursor` names the next frame that matches, with its offset, so a further page begins there at once;
 * it is null when no frame there is now matches.
 */
export async function recordsPage(
  view: ArchiveView,
  query: RecordsQuestion & { limit: number },
): Promise<RecordsPage> {
  const items: FrameItem[] = []
  let bytes = 0
  for await (const frame of matching(view, query)) {
    if (items.length === query.limit || (items.length > 0 && bytes + frame.length > PAGE_BYTES)) {
      return { items, next_cursor: await writeCursor(bindingOf(view, query), [frame.seq, frame.offset]) }
    }
    items.push(itemOf(frame))
    bytes += frame.length
  }
  return { items, next_cursor: null }
}

/** All items of the question, one at a time. */
export async function* recordsStream(view: ArchiveView, query: RecordsQuestion): AsyncGenerator<FrameItem> {
  for await (const frame of matching(view, query)) yield itemOf(frame)
}

async function* matching(view: ArchiveView, query: RecordsQuestion): AsyncGenerator<Frame> {
  const { from = 0, to = Number.MAX_SAFE_INTEGER, kind } = query
  if (from >= to) return
  const wanted = kind && new Set<string>(kind)
  for await (const frame of framesFrom(view, await startOf(view, query))) {
    if (frame.seq >= to) return
    if (frame.seq >= from && (!wanted || isOfKind(frame, wanted))) yield frame
  }
}

function isOfKind(frame: Frame, wanted: ReadonlySet<string>): boolean {
  const scan = scanRecord(frame.payload)
  return !(scan instanceof Unreadable) && wanted.has(scan.kind)
}

async function startOf(view: ArchiveView, query: RecordsQuestion): Promise<Boundary> {
  if (query.cursor === undefined) {
    const snapshots = await snapshotsOf(view)
    return snapshots.boundary(entryBefore(snapshots, query.from ?? 0))
  }
  const [seq = 0, offset = 0] = await readCursor(bindingOf(view, query), query.cursor)
  return { seq, offset }
}

function bindingOf({ run, head }: ArchiveView, { from, to, kind }: RecordsQuestion) {
  return [
    'records',
    run.tenant,
    run.run_id,
    head.life,
    from ?? null,
    to ?? null,
    kind ? [...kind].sort() : null,
  ]
}

/** The whole frame as an item; of an unreadable one only why, never a byte (LVR1.md 6h). */
export function itemOf({ seq, offset, length, payload }: Frame): FrameItem {
  const scan = scanRecord(payload)
  if (!(scan instanceof Unreadable)) {
    return { seq, offset, length, kind: scan.kind, at: scan.at, record: recordView(payload) }
  }
  return { seq, offset, length, kind: null, at: null, record: null, unreadable: scan.reason }
}
