import { RunfoldError } from '../../schema/index.ts'
import { viewOf } from '../parts.ts'
import type { StorePorts } from '../ports.ts'
import { type Boundary, framesFrom } from '../reading/frames.ts'
import { type FrameItem, itemOf } from '../reading/records.ts'
import type { ArchiveView } from '../reading/view.ts'
import type { Look, Lookout } from './lookout.ts'

/** Frames handed out together, unless one alone is larger: what a follower holds in memory. */
const HANDFUL_BYTES = 64 * 1024
/**
 * What has come since the last look is read once for all followers, up to here: as much as one append may bring. Each with
 * a copy of its own, a few hundred of them hold gigabytes of a frame of some megabytes.
 */
const SHARED_BYTES = 8 * 1024 * 1024

/**
 * The items from a boundary on: those that are there, then those that come, some at a time; an empty list means that a
 * look found nothing new. Ends when the life that the view is of ends. Nothing is read ahead of who takes it.
 */
export async function* follow(
  ports: StorePorts,
  lookout: Lookout,
  began: ArchiveView,
  from: Boundary,
): AsyncGenerator<readonly FrameItem[]> {
  const { run } = began
  const { life } = began.head
  let look: Look | undefined
  for (let view = began, position = from; ; ) {
    for await (const items of newItems(view, position, look)) {
      yield items
      position = after(items, position)
    }
    look = await lookout.next(run)
    const { head, isGone } = look
    if (isGone || (head && head.life !== life)) return
    if (head && head.tail > view.head.tail) view = viewOf(ports, run, head)
    else yield []
  }
}

/** The run as the next look finds it, or the same view where there is no news. @throws not_found when its life has ended */
export async function nextView(ports: StorePorts, lookout: Lookout, seen: ArchiveView): Promise<ArchiveView> {
  const { run } = seen
  const { head, isGone } = await lookout.next(run)
  if (isGone || (head && head.life !== seen.head.life)) {
    throw new RunfoldError('not_found', `the run ${run.run_id} was removed meanwhile`)
  }
  return head && head.tail > seen.head.tail ? viewOf(ports, run, head) : seen
}

async function* newItems(view: ArchiveView, from: Boundary, look: Look | undefined) {
  const length = view.head.tail - from.offset
  if (look?.isShared && 0 < length && length <= SHARED_BYTES) {
    const items = await look.items(from.offset, () => allItems(view, from))
    if (items.length > 0) yield items
  } else yield* handfuls(view, from)
}

async function allItems(view: ArchiveView, from: Boundary): Promise<readonly FrameItem[]> {
  const items: FrameItem[] = []
  for await (const some of handfuls(view, from)) items.push(...some)
  return items
}

async function* handfuls(view: ArchiveView, from: Boundary): AsyncGenerator<readonly FrameItem[]> {
  let items: FrameItem[] = []
  let bytes = 0
  for await (const frame of framesFrom(view, from)) {
    items.push(itemOf(frame))
    bytes += frame.length
    if (bytes < HANDFUL_BYTES) continue
    yield items
    items = []
    bytes = 0
  }
  if (items.length > 0) yield items
}

function after(items: readonly FrameItem[], position: Boundary): Boundary {
  const last = items.at(-1)
  return last ? { seq: last.seq + 1, offset: last.offset + last.length } : position
}
