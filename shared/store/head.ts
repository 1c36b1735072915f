import { EMPTY_DIGEST } from '../codec/index.ts'
import type { Lease, Transfer } from '../schema/index.ts'
import { RunfoldError } from '../schema/index.ts'
import type { Expectation, Extents, Head, HeadChange, HeadLease, Ticks } from './ports.ts'

// What may be asked of a head and what a change makes of it. Pure, and used by the memory and local adapters as it is,
// so that adapters cannot disagree.

const PLAIN = ['alive', 'life', 'epoch', 'tail', 'sweep', 'due_at'] as const

/** Whether everything the expectation names holds of the stored head. */
export function meets(head: Head | undefined, expect: Expectation): boolean {
  if (expect.absent) return head === undefined
  if (!head) return false
  if (PLAIN.some((name) => expect[name] !== undefined && expect[name] !== head[name])) return false
  if (expect.held !== undefined && expect.held !== (head.lease !== null)) return false
  const expiry = expect.lease_expires_at
  if (expiry !== undefined && expiry !== (head.lease?.expires_at ?? null)) return false
  return Object.entries(expect.extents ?? {}).every(([name, wanted]) => {
    const found = head.extents[name]
    return found?.length === wanted.length && found.hash === wanted.hash && found.sweep === wanted.sweep
  })
}

/** The head after the change. Without a head the change must set every member (`absent`). */
export function applyChange(head: Head | undefined, change: HeadChange): Head {
  const extents: Record<string, Head['extents'][string]> = { ...(change.extents ?? head?.extents) }
  for (const name of change.drop ?? []) delete extents[name]
  Object.assign(extents, change.add)
  return { ...(head as Head), ...change.set, extents: inOrder(extents) }
}

function inOrder(extents: Extents): Extents {
  return Object.fromEntries(Object.entries(extents).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const NO_TICKS: Ticks = {
  current_stage: null,
  iteration: null,
  prompt_tokens: null,
  completion_tokens: null,
  cached_tokens: null,
  cache_write_tokens: null,
  tool_calls: null,
  updated_at: null,
}

/** What every life of a run_id begins and every tombstone remains with: no byte, no record. */
export const NOTHING = {
  lease: null,
  holder: null,
  previous: null,
  requires: [],
  origin: null,
  tail: 0,
  frames: 0,
  points: 0,
  unreadable: 0,
  digest: EMPTY_DIGEST,
  hash_state: '',
  headed: null,
  ticks: NO_TICKS,
  card_tail: 0,
  ended: false,
  snapshot: null,
  sweep_at: null,
  claim_at: null,
} as const satisfies Partial<Head>

/** Milliseconds since 1970 as answers show them: RFC 3339 in UTC. */
export function serverTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** Whether somebody holds the run at `now`, in ms. */
export function isLive(lease: HeadLease | null, now: number): lease is HeadLease {
  return lease !== null && lease.expires_at > now
}

/** A lease as answers show it. */
export function leaseJson(lease: HeadLease): Lease {
  return { ...lease, expires_at: serverTime(lease.expires_at) }
}

/** The head of a run that exists; a tombstone is as absent as nothing. */
export function living(head: Head | undefined): Head {
  if (head?.alive) return head
  throw new RunfoldError('not_found', 'there is no such run')
}

/** What a writer needs to mend its position. */
export function position(head: Head): { tail: number; digest: string; epoch: number } {
  return { tail: head.tail, digest: head.digest, epoch: head.epoch }
}

/** The refusal of a writer whose epoch is over. */
export function fenced(head: Head, epoch: number): RunfoldError {
  const found = head.lease ? `the epoch is ${head.epoch}` : `epoch ${head.epoch} was released`
  return new RunfoldError('fenced', `${found}, the request came with ${epoch}`, {
    ...position(head),
    lease: head.lease && leaseJson(head.lease),
  })
}

/** How a worker came by an epoch, as the history shows it. */
export function transferOf(
  lease: HeadLease,
  epoch: number,
  now: number,
  reason: Transfer['reason'],
): Transfer {
  return { epoch, machine_id: lease.machine_id, world_id: lease.world_id, from: serverTime(now), reason }
}
