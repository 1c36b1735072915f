import { EMPTY_CARD } from '../fold/index.ts'
import type {
  AcquireRequest,
  LeaseAnswer,
  LeaseState,
  RenewRequest,
  RunKey,
  Transfer,
  Worker,
} from '../schema/index.ts'
import { LEASE_HISTORY_MAX, LEASE_TTL_S, RunfoldError } from '../schema/index.ts'
import { cardRow } from './card-row.ts'
import {
  applyChange,
  fenced,
  isLive,
  leaseJson,
  living,
  NOTHING,
  position,
  serverTime,
  transferOf,
} from './head.ts'
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
export function decideAcquire(head: Head | undefined, request: AcquireRequest, now: number): Decision {
  const { machine_id, world_id, requires } = request
  const leaseFor = (ttl_s: number): HeadLease => ({
    machine_id,
    world_id,
    ttl_s,
    expires_at: now + ttl_s * 1000,
  })
  const lease = leaseFor(request.ttl_s ?? LEASE_TTL_S.default)

  if (!head?.alive) {
    const epoch = (head?.epoch ?? 0) + 1
    const set: Omit<Head, 'extents'> = {
      ...NOTHING,
      life: epoch,
      alive: true,
      epoch,
      sweep: head?.sweep ?? 0,
      lease,
      holder: transferOf(lease, epoch, now, 'acquired'),
      requires: requires ?? [],
      due_at: lease.expires_at,
      created_at: now,
      changed_at: now,
    }
    const expect = head ? { alive: false, epoch: head.epoch } : ({ absent: true } as const)
    return { created: true, expect, change: { set, extents: {} } }
  }

  const held = head.lease
  // With the tail, since the answer names it: a new owner that is told too short a one would write other bytes there.
  const same = { alive: true, life: head.life, epoch: head.epoch, tail: head.tail }
  const wanted = requires && { requires }
  if (held && isSame(held, request)) {
    const lease = leaseFor(request.ttl_s ?? held.ttl_s)
    const set = { ...wanted, lease, due_at: head.due_at ?? lease.expires_at, changed_at: now }
    return { created: false, expect: { ...same, held: true }, change: { set } }
  }

  const reason =
    held === null ? 'released' : !isLive(held, now) ? 'expired' : request.force ? 'forced' : undefined
  if (!held || reason) {
    const epoch = head.epoch + 1
    const set = {
      ...wanted,
      epoch,
      lease,
      holder: transferOf(lease, epoch, now, reason ?? 'released'),
      previous: head.holder && { machine_id: head.holder.machine_id, world_id: head.holder.world_id },
      due_at: head.due_at ?? lease.expires_at,
      changed_at: now,
    }
    // An expired lease may come to life again by an append until the very commit that takes it.
    const expect = reason === 'expired' ? { ...same, lease_expires_at: held?.expires_at ?? null } : same
    return { created: false, expect, change: { set } }
  }
  throw leaseHeld(head, held, now)
}

export function leaseHeld(head: Head, lease: HeadLease, now: number): RunfoldError {
  const until = serverTime(lease.expires_at)
  return new RunfoldError(
    'lease_held',
    `${lease.machine_id} / ${lease.world_id} holds the run until ${until}`,
    {
      lease: leaseJson(lease),
      epoch: head.epoch,
      retry_after_s: Math.max(1, Math.ceil((lease.expires_at - now) / 1000)),
    },
  )
}

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
      if (!(error instanceof RunfoldError && error.code === 'lease_held') || left <= 0 || signal?.aborted)
        throw error
      await clock.sleep(Math.min(POLL_MS, left), signal)
    }
  }
}

async function acquireNow({ ports: { index }, clock }: StoreParts, run: RunKey, request: AcquireRequest) {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const head = await index.head(run)
    const now = clock.now()
    const { created, expect, change } = decideAcquire(head, request, now)
    const after = applyChange(head, change)
    // The head has room for one holder. The one it replaces is put away first, so that no crash loses it.
    if (head?.holder && head.epoch !== after.epoch) await index.putTransfer(run, head.holder)
    const card = created ? cardRow(run, after, EMPTY_CARD) : undefined
    if (await index.commit(run, expect, change, card))
      return { created, answer: leaseAnswer(run, after, now) }
  }
  throw new RunfoldError('slow_down', 'too many ask for this run at once', { retry_after_s: 1 })
}

/** Changes the lease of `epoch`, which must be the current one; `fenced` otherwise. */
async function changeLease(
  { ports: { index }, clock }: StoreParts,
  run: RunKey,
  epoch: number,
  decide: (head: Head, now: number) => HeadChange | undefined,
): Promise<{ head: Head; now: number }> {
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
    if (await index.commit(run, expect, change)) return { head: applyChange(head, change), now }
  }
  throw new RunfoldError('slow_down', 'the lease changes too often', { retry_after_s: 1 })
}

export async function renew(parts: StoreParts, run: RunKey, request: RenewRequest): Promise<LeaseAnswer> {
  const { head, now } = await changeLease(parts, run, request.epoch, (head, now) => {
    if (!head.lease) throw fenced(head, request.epoch)
    const ttl_s = request.ttl_s ?? head.lease.ttl_s
    return { set: { lease: { ...head.lease, ttl_s, expires_at: now + ttl_s * 1000 }, changed_at: now } }
  })
  return leaseAnswer(run, head, now)
}

/** The same release again is none: its answer may have been lost. */
export async function release(parts: StoreParts, run: RunKey, epoch: number): Promise<void> {
  await changeLease(parts, run, epoch, (head, now) =>
    head.lease ? { set: { lease: null, due_at: now, changed_at: now } } : undefined,
  )
}

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

function leaseAnswer(run: RunKey, head: Head, now: number): LeaseAnswer {
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

function isSame(holder: Worker, asking: Worker): boolean {
  return holder.machine_id === asking.machine_id && holder.world_id === asking.world_id
}
