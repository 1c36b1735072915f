import type { RunKey } from '../schema/index.ts'
import { RunfoldError } from '../schema/index.ts'
import { isLive, living, NOTHING } from './head.ts'
import { leaseHeld } from './lease.ts'
import { MAX_ATTEMPTS, type StoreParts } from './parts.ts'

/**
 * Leaves a tombstone (DESIGN.md, "Delete"): the epoch rises so that no writer of this life can commit, the generation
 * rises so that no object stored for it can be named. The objects themselves are left to the sweep.
 */
export async function remove(
  { ports: { index }, clock }: StoreParts,
  run: RunKey,
  { force }: { force: boolean },
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const head = living(await index.head(run))
    const now = clock.now()
    if (isLive(head.lease, now) && !force) throw leaseHeld(head, head.lease, now)
    const { life, epoch, sweep } = head
    const expect = { alive: true, life, epoch, sweep, lease_expires_at: head.lease?.expires_at ?? null }
    const set = { ...NOTHING, alive: false, epoch: epoch + 1, sweep: sweep + 1, due_at: now, changed_at: now }
    if (!(await index.commit(run, expect, { set, extents: {} }))) continue
    await index.removeCard(run, life)
    return
  }
  throw new RunfoldError('slow_down', 'the run changes too often to be deleted now', { retry_after_s: 1 })
}
