import { extentStart } from '../keys.ts'
import type { Head } from '../ports.ts'
import { MERGED_BYTES, piecesOf } from './merge-policy.ts'

// Where snapshots stand. Between two of them lies a *stretch*, which a read has to fold, so it must be short (P8) and must
// lie in one object: every extent that has outgrown "small" ends with a snapshot. It must also be long enough that
// snapshots never outweigh the archive (P9).

export interface SnapshotPolicy {
  /** A stretch is about so long, or longer where the snapshots themselves are, or the archive is very long. */
  readonly everyBytes: number
  /** Extents from so many bytes on count as merged; small ones behind the last of them still change. */
  readonly mergedBytes: number
  /**
   * A state is kept where it has no more JSON than this. Whoever reads such a window needs memory for it in any case; a larger one
   * would be held twice, the frames that made it and what was kept.
   */
  readonly stateBytes: number
}

const MiB = 1024 * 1024
export const SNAPSHOT_POLICY: SnapshotPolicy = {
  everyBytes: MiB,
  mergedBytes: MERGED_BYTES,
  stateBytes: 64 * MiB,
}

/**
 * Stretches grow with the archive once it has so many: the index then grows with its logarithm only. A stretch is over
 * what P8 allows in archives of more than 64 GiB.
 */
const EVEN_STRETCHES = 8192
/** At the end of an extent a snapshot may be so many times larger than the stretch before it. */
const MAX_OVERWEIGHT = 8

/** Whether a snapshot belongs at a frame boundary, `last` being where and how large the one before is. */
export function isSnapshotDue(
  { everyBytes }: SnapshotPolicy,
  offset: number,
  last: { readonly offset: number; readonly bytes: number },
  isExtentEnd: boolean,
): boolean {
  const stretch = offset - last.offset
  if (isExtentEnd && stretch * MAX_OVERWEIGHT >= last.bytes) return true
  return stretch >= Math.max(everyBytes, last.bytes, Math.floor(offset / EVEN_STRETCHES))
}

/** How far the archive can have snapshots: to the end of the last merged extent, or of all where the run rests. */
export function snapshotsEnd(head: Head, { mergedBytes }: SnapshotPolicy, isAtRest: boolean): number {
  if (isAtRest) return head.tail
  const last = piecesOf(head.extents).findLast(({ length }) => length >= mergedBytes)
  return last ? extentStart(last.name) + last.length : 0
}

/** Whether enough lies behind the newest snapshot. */
export function wantsSnapshots(head: Head, policy: SnapshotPolicy, isAtRest: boolean): boolean {
  return snapshotsEnd(head, policy, isAtRest) - (head.snapshot?.offset ?? 0) >= policy.everyBytes
}
