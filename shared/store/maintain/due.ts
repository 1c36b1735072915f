import type { Head } from '../ports.ts'
import { pickMerge, piecesOf } from './merge-policy.ts'
import { SNAPSHOT_POLICY, wantsSnapshots } from './snapshot-policy.ts'

/** An ended run becomes one object once nothing was added for so long: a few records often follow the last status. */
export const SETTLE_MS = 10_000

/**
 * When maintenance has to look at a run that has just grown. Left as it is wherever possible, for a change costs a write
 * in the due list; a held run is always due, when its lease runs out at the latest.
 */
export function dueAfterAppend(head: Head, now: number): number {
  const due = head.due_at ?? head.lease?.expires_at ?? now
  const pieces = piecesOf(head.extents)
  if (pickMerge(pieces) || wantsSnapshots(head, SNAPSHOT_POLICY, false)) return Math.min(due, now)
  return head.ended && pieces.length > 1 ? Math.min(due, now + SETTLE_MS) : due
}
