import { randomUUID } from 'node:crypto'
import type { RunKey } from '#schema'
import type { Head, HeadChange } from '#store'

// What the contract suites share: names that no other test uses, since one store serves them all, and a full head.

/** Runs of one test share a tenant, which begins with `fresh`. */
export function namesOfATest() {
  let tenant = ''
  const run = (run_id: string): RunKey => ({ tenant, run_id })
  const fresh = () => {
    tenant = `t-${randomUUID()}`
    return run('run')
  }
  return { fresh, run, tenant: () => tenant }
}

/** A head with something in every member, to the last digit of what a number may hold. */
export const HEAD: Head = {
  life: 1,
  alive: true,
  epoch: 3,
  sweep: 2,
  lease: { machine_id: 'm', world_id: 'w', ttl_s: 60, expires_at: 1_790_000_060_000 },
  holder: { epoch: 3, machine_id: 'm', world_id: 'w', from: '2026-11-30T00:00:00.000Z', reason: 'acquired' },
  previous: { machine_id: 'm0', world_id: 'w0' },
  requires: ['gpu'],
  origin: { run_id: 'source', life: 2, seq: 7 },
  tail: 100,
  frames: 7,
  points: 2,
  unreadable: 1,
  digest: 'ab'.repeat(32),
  hash_state: '1:AAAA',
  headed: true,
  ticks: {
    current_stage: 'build',
    iteration: 2n ** 64n - 1n,
    prompt_tokens: 0,
    completion_tokens: 5,
    cached_tokens: null,
    cache_write_tokens: 1,
    tool_calls: 9,
    updated_at: -(2n ** 63n),
  },
  card_tail: 60,
  ended: false,
  extents: {
    '0000000000000000': { length: 60, hash: '0123456789abcdef', sweep: 0, at: 1_790_000_000_000 },
    '0000000000000060': { length: 40, hash: '0123456789abcdef', sweep: 2, at: 1_790_000_000_001 },
  },
  snapshot: null,
  due_at: 1_790_000_060_000,
  claim_at: 1_790_000_060_000,
  sweep_at: 1_790_003_600_000,
  created_at: 1_790_000_000_000,
  changed_at: 1_790_000_000_002,
}

/** The change that makes this head. */
export function whole({ extents, ...set }: Head): HeadChange {
  return { set, extents }
}
