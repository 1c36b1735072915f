import { EMPTY_CARD } from '../fold/index.ts'
import type { AcquireRequest, LeaseAnswer, LeaseReason, RunKey, Worker } from '../schema/index.ts'
import { isRunfoldError, LEASE_TTL_S, RunfoldError } from '../schema/index.ts'
import { cardRow } from './card-row.ts'
import { claimableFrom } from './claim/claimable.ts'
import { applyChange, isLive, NOTHING, transferOf } from './head.ts'
import { leaseAnswer, leaseHeld } from './lease.ts'
import { announce } from './maintain/manifest.ts'
import { MAX_ATTEMPTS, type StoreParts } from './parts.ts'
import type { Expectation, Head, HeadChange, HeadLease } from './ports.ts'

// DESIGN.md, "Lease": the epoch is the fencing token; it rises with every holder and never falls, over deletions too.

/** Between two looks at a lease that somebody waits for. */
const POLL_MS = 150

interface Decision {
  readonly created: boolean
  readonly expect: Expectation
  readonly change: HeadChange
}

/** Who gets the run when `request` asks at `now`. Throws `lease_held`. */
function decide(head: Head | undefined, request: AcquireRequest, now: number): Decision {
  if (!head?.alive) return create(head, request, now)
  const { lease } = head
  if (!lease) return takeOver(head, request, now, 'released')
  if (isSame(lease, request)) return keep(head, lease, request, now)
  if (!isLive(lease, now)) return takeOver(head, request, now, 'expired')
  if (request.force) return takeOver(head, request, now, 'forced')
  throw leaseHeld(head, lease, now)
}

/** A run that was never there, or a new life of one that was deleted. */
export function create(grave: Head | undefined, request: AcquireRequest, now: number): Decision {
  const epoch = (grave?.epoch ?? 0) + 1
  const lease = leaseFor(request, now)
  const set: Omit<Head, 'extents'> = {
    ...NOTHING,
    life: epoch,
    alive: true,
    epoch,
    sweep: grave?.sweep ?? 0,
    lease,
    holder: transferOf(lease, epoch, now, 'acquired'),
    requires: request.requires ?? [],
    due_at: lease.expires_at,
    claim_at: lease.expires_at,
    created_at: now,
    changed_at: now,
  }
  const expect = grave
    ? { alive: false, epoch: grave.epoch, sweep: grave.sweep }
    : ({ absent: true } as const)
  return { created: true, expect, change: { set, extents: {} } }
}

/** The holder asks again, perhaps because the answer was lost, perhaps long after its lease ran out. */
function keep(head: Head, held: HeadLease, request: AcquireRequest, now: number): Decision {
  const lease = leaseFor(request, now, held.ttl_s)
  const set = {
    lease,
    due_at: head.due_at ?? lease.expires_at,
    claim_at: claimableFrom({ ...head, lease }, now),
    changed_at: now,
    ...requiring(request),
  }
  return { created: false, expect: { ...sameOwner(head), held: true }, change: { set } }
}

/** A new epoch for who asks, and how the one before ended; `now` in ms. */
export function takeOver(head: Head, request: AcquireRequest, now: number, reason: LeaseReason): Decision {
  const epoch = head.epoch + 1
  const lease = leaseFor(request, now)
  const set = {
    epoch,
    lease,
    holder: transferOf(lease, epoch, now, reason),
    previous: head.holder && { machine_id: head.holder.machine_id, world_id: head.holder.world_id },
    due_at: head.due_at ?? lease.expires_at,
    claim_at: claimableFrom({ ...head, lease }, now),
    changed_at: now,
    ...requiring(request),
  }
  // An expired lease may come to life again by an append until the very commit that takes it.
  const expired = reason === 'expired' && { lease_expires_at: head.lease?.expires_at ?? null }
  return { created: false, expect: { ...sameOwner(head), ...expired }, change: { set } }
}

/** With the tail, since the answer names it: a new owner that is told too short a one would write other bytes there. */
function sameOwner({ life, epoch, tail }: Head): Expectation {
  return { alive: true, life, epoch, tail }
}

function leaseFor(request: AcquireRequest, now: number, usual: number = LEASE_TTL_S.default): HeadLease {
  const { machine_id, world_id, ttl_s = usual } = request
  return { machine_id, world_id, ttl_s, expires_at: now + ttl_s * 1000 }
}

function requiring({ requires }: AcquireRequest): Partial<Head> {
  return requires ? { requires } : {}
}

/** The run's lease, made with the run where there is none; waits up to `wait_s` for one that another holds. Throws `lease_held`. */
export async function acquire(
  parts: StoreParts,
  run: RunKey,
  request: AcquireRequest,
  signal?: AbortSignal,
): Promise<{ created: boolean; answer: LeaseAnswer }> {
  const { clock } = parts
  const deadline = clock.now() + (request.wait_s ?? 0) * 1000
  for (;;) {
    try {
      return await acquireNow(parts, run, request)
    } catch (error) {
      const left = deadline - clock.now()
      if (!isRunfoldError(error, 'lease_held') || left <= 0) throw error
      await clock.sleep(Math.min(POLL_MS, left), signal)
      // Whoever has left would hold the run for a whole ttl, and keep it from those who still wait.
      if (signal?.aborted) throw error
    }
  }
}

async function acquireNow(parts: StoreParts, run: RunKey, request: AcquireRequest) {
  const { index, objects } = parts.ports
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const head = await index.head(run)
    const now = parts.clock.now()
    const decision = decide(head, request, now)
    const { created, change } = decision
    // No rebuild may give the epochs of this life to another, even if nothing is ever appended.
    if (created) await announce(objects, run, applyChange(head, change))
    const answer = await grant(parts, run, head, decision, now)
    if (answer) return { created, answer }
  }
  throw new RunfoldError('slow_down', 'too many ask for this run at once', { retry_after_s: 1 })
}

/** The lease as it was decided on, or undefined when another was quicker. */
export async function grant(
  { ports: { index } }: StoreParts,
  run: RunKey,
  head: Head | undefined,
  { created, expect, change }: Decision,
  now: number,
): Promise<LeaseAnswer | undefined> {
  const after = applyChange(head, change)
  // The head has room for one holder. The one it replaces is put away first, so that no crash loses it.
  if (head?.holder && head.epoch !== after.epoch) await index.putTransfer(run, head.holder)
  const card = created ? cardRow(run, after, EMPTY_CARD) : undefined
  return (await index.commit(run, expect, change, card)) ? leaseAnswer(run, after, now) : undefined
}

function isSame(holder: Worker, asking: Worker): boolean {
  return holder.machine_id === asking.machine_id && holder.world_id === asking.world_id
}
