import { isLive } from '../head.ts'
import type { Head } from '../ports.ts'
import { soundStretches } from './damage.ts'
import { SETTLE_MS } from './due.ts'
import { type Piece, pickFinalMerge, pickIdleMerge, pickMerge, piecesOf } from './merge-policy.ts'

// What a run needs next, and when. Pure: head → a merge or a time.

const DAY_MS = 24 * 3_600_000

/** @param damaged names of extents that no merge may take */
export function nextMerge(
  head: Head,
  now: number,
  damaged: ReadonlySet<string> = new Set(),
): readonly Piece[] | undefined {
  for (const pieces of soundStretches(piecesOf(head.extents), damaged)) {
    const next = pickMerge(pieces) ?? (isAtRest(head, now) ? pickLast(head, pieces) : undefined)
    if (next) return next
  }
  return undefined
}

function pickLast({ ended }: Head, pieces: readonly Piece[]): readonly Piece[] | undefined {
  if (pieces.length < 2) return undefined
  return ended ? pickFinalMerge(pieces) : pickIdleMerge(pieces)
}

/** When the run has to be looked at again, ms. */
export function nextDue(head: Head, now: number, garbage_at: number | null): number | null {
  const times: number[] = []
  if (head.alive && nextMerge(head, now)) times.push(now)
  if (garbage_at !== null) times.push(garbage_at)
  if (isLive(head.lease, now)) times.push(head.lease.expires_at)
  const settled = settlesAt(head, now)
  if (settled !== null && settled > now) times.push(settled)
  // What a stalled writer stores after the deletion is found a day later.
  if (!head.alive && now < head.changed_at + DAY_MS) times.push(head.changed_at + DAY_MS)
  return times.length > 0 ? Math.min(...times) : null
}

/**
 * A run at rest is swept whenever it is looked at, since objects that no commit followed are told of by nobody; one that
 * is written to is when merges have left something that is old enough.
 */
export function isSweepDue(head: Head, now: number): boolean {
  return !head.alive || !isLive(head.lease, now) || (head.sweep_at !== null && head.sweep_at <= now)
}

/**
 * When a run has come to rest: at once where nobody holds it, a while after the last append where its
 * status is a terminal one; null while it goes on.
 */
function settlesAt(head: Head, now: number): number | null {
  const extents = Object.values(head.extents)
  if (extents.length === 0) return null
  if (!isLive(head.lease, now)) return now
  return head.ended ? Math.max(...extents.map(({ at }) => at)) + SETTLE_MS : null
}

export function isAtRest(head: Head, now: number): boolean {
  const settled = settlesAt(head, now)
  return settled !== null && settled <= now
}
