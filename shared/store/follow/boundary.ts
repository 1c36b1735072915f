import { FrameCount } from '../reading/frame-count.ts'
import { BEGINNING, type Boundary } from '../reading/frames.ts'
import { lastWhere } from '../reading/snapshot-index.ts'
import { snapshotsOf } from '../reading/snapshots.ts'
import type { ArchiveView } from '../reading/view.ts'
import { extentsInOrder } from '../reading/view.ts'

/**
 * The frame boundary at an archive position, with its seq; undefined where a frame is cut, and past the tail. Position 0
 * counts as the first boundary.
 *
 *   snapshot        extent begins      offset              tail
 *   ┼───────────────┼──────────────────┼───────────────────┼
 *   └── counted forwards ──────────────┘
 *                   └── or checked ────┴── counted back ───┘
 *
 * The frames before a snapshot and before the tail are known, and every extent begins with a frame. The shorter of the two
 * ways is read, so whoever comes back near the end of a long run costs little.
 */
export async function boundaryAt(view: ArchiveView, offset: number): Promise<Boundary | undefined> {
  const { tail, frames } = view.head
  if (offset > tail) return undefined
  if (offset === 0 || offset === BEGINNING.offset) return BEGINNING
  if (offset === tail) return { seq: frames, offset }
  if (offset < BEGINNING.offset) return undefined
  const known = await boundaryBefore(view, offset)
  const start = Math.max(BEGINNING.offset, extentStartBefore(view, offset))
  if (offset - known.offset <= tail - start) return counted(view, known, offset)
  if (!(await counted(view, { seq: 0, offset: start }, offset))) return undefined
  const rest = await counted(view, { seq: 0, offset }, tail)
  return rest && { seq: frames - rest.seq, offset }
}

async function boundaryBefore(view: ArchiveView, offset: number): Promise<Boundary> {
  const { entries, boundary } = await snapshotsOf(view)
  const n = lastWhere(entries, (entry) => entry.offset <= offset)
  return boundary(n)
}

function extentStartBefore({ head }: ArchiveView, offset: number): number {
  return extentsInOrder(head).findLast(([start]) => start <= offset)?.[0] ?? 0
}

/** Counts the frames from a boundary to a position; undefined where none ends there. */
async function counted(
  view: ArchiveView,
  { seq, offset }: Boundary,
  end: number,
): Promise<Boundary | undefined> {
  const count = new FrameCount()
  for await (const chunk of view.bytes(offset, end)) count.push(chunk)
  return count.isAtBoundary ? { seq: seq + count.frames, offset: end } : undefined
}
