import { FrameCount } from './reading/frame-count.ts'
import { BEGINNING, type Boundary } from './reading/frames.ts'
import type { ArchiveView } from './reading/view.ts'
import { extentsInOrder } from './reading/view.ts'

/**
 * The frame boundary at an archive position, with its seq; undefined where a frame is cut, and past the tail. Position 0
 * counts as the first boundary.
 *
 *   0   6                    extent begins   offset                 tail
 *   ├───┼────────────────────┼───────────────┼──────────────────────┤
 *       └── counted forwards: offset − 6 ────┘
 *                            └── or checked ─┴── and counted back ──┘
 *
 * Every extent begins with a frame and the frames before the tail are known, so whoever comes back near the end of a long
 * run costs little; the shorter of the two ways is read.
 */
export async function boundaryAt(view: ArchiveView, offset: number): Promise<Boundary | undefined> {
  const { tail, frames } = view.head
  if (offset > tail) return undefined
  if (offset === 0 || offset === BEGINNING.offset) return BEGINNING
  if (offset === tail) return { seq: frames, offset }
  if (offset < BEGINNING.offset) return undefined
  const start = Math.max(BEGINNING.offset, extentStartBefore(view, offset))
  if (offset - BEGINNING.offset <= tail - start) return counted(view, BEGINNING, offset)
  if (!(await counted(view, { seq: 0, offset: start }, offset))) return undefined
  const rest = await counted(view, { seq: 0, offset }, tail)
  return rest && { seq: frames - rest.seq, offset }
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
