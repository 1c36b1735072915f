import type { LeaseAnswer, LeaseState, RenewRequest, RunKey, Transfer } from '../schema/index.ts'
import { LEASE_HISTORY_MAX, RunfoldError } from '../schema/index.ts'
import { claimableFrom } from './claim/claimable.ts'
import { doubtfulCommit } from './doubt.ts'
import { applyChange, fenced, leaseJson, living, position, serverTime } from './head.ts'
import { MAX_ATTEMPTS, type StoreParts } from './parts.ts'
import type { Head, HeadChange, HeadLease } from './ports.ts'

// What is done with a lease that somebody has; how one is got is acquire.ts.

/** Changes the lease of `epoch`, which must be the current one; `fenced` otherwise. */
async function changeLease(
  { ports: { index }, clock }: StoreParts,
  run: RunKey,
  epoch: number,
  decide: (head: Head, now: number) => HeadChange | undefined,
): Promise<{ head: Head; now: number }> {
  const commit = doubtfulCommit(index)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const head = living(await index.head(run))
    if (head.epoch !== epoch) throw fenced(head, epoch)
    const now = clock.now()
    const change = decide(head, now)
    if (!change) return { head, now }
    const expect = {
      alive: true,
      life: head.life,
      epoch,
      held: true,
      lease_expires_at: head.lease?.expires_at ?? null,
    }
    if (await commit(run, expect, change)) return { head: applyChange(head, change), now }
  }
  throw new RunfoldError('slow_down', 'the lease changes too often', { retry_after_s: 1 })
}

/** Prolongs the lease of this epoch from now on. Throws `fenced`. */
export async function renew(parts: StoreParts, run: RunKey, request: RenewRequest): Promise<LeaseAnswer> {
  const { head, now } = await changeLease(parts, run, request.epoch, (head, now) => {
    if (!head.lease) throw fenced(head, request.epoch)
    const ttl_s = request.ttl_s ?? head.lease.ttl_s
    const expires_at = now + ttl_s * 1000
    const lease = { ...head.lease, ttl_s, expires_at }
    const claim_at = claimableFrom({ ...head, lease }, now)
    return { set: { lease, due_at: head.due_at ?? expires_at, claim_at, changed_at: now } }
  })
  return leaseAnswer(run, head, now)
}

/** The same release again is none: its answer may have been lost. */
export async function release(parts: StoreParts, run: RunKey, epoch: number): Promise<void> {
  await changeLease(parts, run, epoch, (head, now) =>
    head.lease
      ? {
          set: {
            lease: null,
            due_at: now,
            claim_at: claimableFrom({ ...head, lease: null }, now),
            changed_at: now,
          },
        }
      : undefined,
  )
}

/** Who holds the run, and who has, the newest first. */
export async function leaseState({ ports: { index } }: StoreParts, run: RunKey): Promise<LeaseState> {
  const head = living(await index.head(run))
  const older = await index.transfers(run, LEASE_HISTORY_MAX)
  const ofThisLife = older.filter(({ epoch }) => head.life <= epoch && epoch < head.epoch)
  const history: Transfer[] = [...(head.holder ? [head.holder] : []), ...ofThisLife].slice(
    0,
    LEASE_HISTORY_MAX,
  )
  return { epoch: head.epoch, lease: head.lease && leaseJson(head.lease), history }
}

/** The refusal of who would take a run that another holds at `now`, in ms. */
export function leaseHeld(head: Head, lease: HeadLease, now: number): RunfoldError {
  const until = serverTime(lease.expires_at)
  return new RunfoldError(
    'lease_held',
    `${lease.machine_id}/${lease.world_id} holds the run until ${until}`,
    {
      lease: leaseJson(lease),
      epoch: head.epoch,
      retry_after_s: Math.max(1, Math.ceil((lease.expires_at - now) / 1000)),
    },
  )
}

/** What the holder of the run is told. */
export function leaseAnswer(run: RunKey, head: Head, now: number): LeaseAnswer {
  if (!head.lease) throw fenced(head, head.epoch)
  return {
    run_id: run.run_id,
    ...position(head),
    frames: head.frames,
    points: head.points,
    lease: leaseJson(head.lease),
    previous: head.previous,
    server_time: serverTime(now),
  }
}
