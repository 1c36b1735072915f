import { digestOf, jsonBytes, loadDigest } from '../codec/index.ts'
import type { RunAnswer, RunKey } from '../schema/index.ts'
import { cardJson, currentCard } from './card-row.ts'
import { leaseJson, living, position, serverTime } from './head.ts'
import type { StoreParts } from './parts.ts'

const ETAG_DIGITS = 32

/** One run: its card, its position, and a tag that changes with any of it. */
export async function describeRun(
  parts: StoreParts,
  run: RunKey,
): Promise<{ answer: RunAnswer; etag: string }> {
  const head = living(await parts.ports.index.head(run))
  const lengths = Object.values(head.extents).map(({ length }) => length)
  const answer: RunAnswer = {
    ...cardJson(run, await currentCard(parts.ports, run, head)),
    ...position(head),
    frames: head.frames,
    points: head.points,
    lease: head.lease && leaseJson(head.lease),
    unreadable_frames: head.unreadable,
    stored: { objects: lengths.length, bytes: lengths.reduce((sum, length) => sum + length, 0) },
    snapshot: head.snapshot && { seq: head.snapshot.seq },
    created_at: serverTime(head.created_at),
    changed_at: serverTime(head.changed_at),
  }
  await loadDigest()
  return { answer, etag: `"${digestOf(jsonBytes(answer)).slice(0, ETAG_DIGITS)}"` }
}
