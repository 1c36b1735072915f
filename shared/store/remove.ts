import type { RunKey } from '../schema/index.ts'
import { RunfoldError } from '../schema/index.ts'
import { doubtfulCommit } from './doubt.ts'
import { applyChange, isLive, living, NOTHING } from './head.ts'
import { objectPrefix } from './keys.ts'
import { leaseHeld } from './lease.ts'
import { announce, announceEnding } from './maintain/manifest.ts'
import { markEnd } from './maintain/sweep-notes.ts'
import { MAX_ATTEMPTS, type StoreParts } from './parts.ts'
import type { Head, Objects, StoredObject } from './ports.ts'

/**
 * Leaves a tombstone (DESIGN.md, "Delete"): the epoch rises so that no writer of this life can commit, the generation
 * rises so that no object stored for it can be named. The objects themselves are left to the sweep. With `onlyIf` the head
 * is judged again before every attempt, so that a run which has changed meanwhile is left alone.
 *
 * One marker precedes the tombstone. It tells of a deletion that was refused or broken off as well, so a rebuild drops no run for
 * it: that goes by another, stored when the deletion is made and before it is acknowledged.
 */
export async function remove(
  { ports: { index, objects }, clock }: Pick<StoreParts, 'ports' | 'clock'>,
  run: RunKey,
  { force, onlyIf }: { readonly force: boolean; readonly onlyIf?: (head: Head, now: number) => boolean },
): Promise<void> {
  const commit = doubtfulCommit(index)
  const seen = await index.head(run)
  // Whoever made it may not have come to mark it, and may be asking again now.
  if (seen?.alive === false) await markEnd({ objects }, run, await marksOf(objects, run), seen)
  let head = living(seen)
  const { life } = head
  let noted: Head | undefined
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const now = clock.now()
    if (onlyIf && !onlyIf(head, now)) return
    if (isLive(head.lease, now) && !force) throw leaseHeld(head, head.lease, now)
    const { epoch, sweep } = head
    const expect = { alive: true, life, epoch, sweep, lease_expires_at: head.lease?.expires_at ?? null }
    const set = { ...NOTHING, alive: false, epoch: epoch + 1, sweep: sweep + 1, due_at: now, changed_at: now }
    const change = { set, extents: {} }
    const end = applyChange(head, change)
    if (noted?.epoch !== end.epoch || noted.sweep !== end.sweep) await announceEnding(objects, run, end)
    noted = end
    const isMade = await commit(run, expect, change)
    const found = isMade ? end : await index.head(run)
    // Gone as asked: by this commit, by one whose answer was lost, or by someone else's.
    if (!found?.alive || found.life !== life) {
      if (found?.alive === false) await announce(objects, run, found)
      return index.removeCard(run, life)
    }
    head = found
  }
  throw new RunfoldError('slow_down', 'the run changes too often to be deleted now', { retry_after_s: 1 })
}

/** Asked for and not guessed from the head: a visit of maintenance that failed leaves its trace there, too. */
async function marksOf(objects: Objects, run: RunKey): Promise<StoredObject[]> {
  const marks: StoredObject[] = []
  for await (const mark of objects.list(`${objectPrefix(run)}tombstone-`)) marks.push(mark)
  return marks
}
