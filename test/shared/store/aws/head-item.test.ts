import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PK, SK, STAMP } from '../../../../shared/store/aws/attributes.ts'
import { extentsAttribute } from '../../../../shared/store/aws/extent-text.ts'
import { EXTENTS, FIELDS } from '../../../../shared/store/aws/head-fields.ts'
import { headItem, headOf } from '../../../../shared/store/aws/head-item.ts'
import { awsTariff } from '../../../../shared/store/aws/tariff.ts'
import type { Extent, Extents, Head } from '../../../../shared/store/ports.ts'

const MAX = Number.MAX_SAFE_INTEGER
const worker = { machine_id: '0123456789abcdef', world_id: 'fedcba9876543210' }
const now = 1_796_042_640_748

/** A head as long runs have them: `count` extents, none of it short. */
function grownHead(count: number): Head {
  const extents = Array.from({ length: count }, (_, n): [string, Extent] => [
    String(900_000_000 + n * 4096).padStart(16, '0'),
    { length: 4096, hash: '0123456789abcdef', sweep: 3, at: now },
  ])
  return {
    life: 1,
    alive: true,
    epoch: 17,
    sweep: 3,
    lease: { ...worker, ttl_s: 60, expires_at: now },
    holder: { epoch: 17, ...worker, from: new Date(now).toISOString(), reason: 'acquired' },
    previous: worker,
    requires: [],
    origin: null,
    tail: 900_131_072,
    frames: 200_000,
    points: 100_000,
    unreadable: 0,
    digest: 'ab'.repeat(32),
    hash_state: `2:${btoa('x'.repeat(84))}`,
    headed: true,
    ticks: {
      current_stage: 'implementation',
      iteration: 2n ** 64n - 1n,
      prompt_tokens: 123_456_789,
      completion_tokens: 2_345_678,
      cached_tokens: 0,
      cache_write_tokens: null,
      tool_calls: 1200,
      updated_at: -(2n ** 63n),
    },
    card_tail: 880_000_000,
    ended: false,
    extents: Object.fromEntries(extents),
    snapshot: {
      seq: 199_000,
      offset: 899_000_000,
      sweep: 3,
      life: 1,
      stateBytes: 234_567,
      indexBytes: 12_345,
      hash: '0123456789abcdef',
    },
    due_at: now,
    claim_at: now,
    sweep_at: now,
    created_at: now,
    changed_at: now,
  }
}

const RUN = { tenant: 'default', run_id: '0123456789abcdef' }
const itemOf = (head: Head) => headItem(RUN, head)

describe('a head as an item', () => {
  it('comes back as it was, every digit of it', () => {
    expect(headOf(itemOf(grownHead(40)))).toEqual(grownHead(40))
  })

  it('comes back as it was with nothing in it', () => {
    const gone = { lease: null, holder: null, previous: null, headed: null, snapshot: null }
    const nothing = { ...gone, due_at: null, claim_at: null, sweep_at: null }
    const bare: Head = { ...grownHead(0), ...nothing, alive: false, requires: ['gpu', ''], hash_state: '' }
    expect(headOf(itemOf(bare))).toEqual(bare)
  })

  it('keeps any extents, in archive order', () => {
    const size = fc.integer({ min: 0, max: MAX })
    const hash = fc.stringMatching(/^(x[0-9a-f]{15}|[0-9a-f]{16})$/)
    const extents = fc.dictionary(
      size.map((start) => String(start).padStart(16, '0')),
      fc.record({ length: size, hash, sweep: size, at: size }),
    )
    fc.assert(
      fc.property(extents, (entries: Extents) => {
        const read = headOf({ ...itemOf(grownHead(0)), [EXTENTS]: extentsAttribute(entries) }).extents
        expect(read).toEqual({ ...entries })
        expect(Object.keys(read)).toEqual(Object.keys(entries).sort())
      }),
    )
  })

  it.each([
    ['a hash state of no base64', { hash_state: 'v1:not base64' }],
    ['a hash state without a version', { hash_state: 'AAAA' }],
    ['a holder since no time', { holder: { epoch: 1, ...worker, from: 'long ago', reason: 'forced' } }],
  ] as const)('keeps %s', (_, members) => {
    const head = { ...grownHead(1), ...members }
    expect(headOf(itemOf(head))).toEqual(head)
  })

  it('has a name of its own for each member', () => {
    const names = Object.values(FIELDS).map(({ as }) => as)
    expect(new Set([...names, EXTENTS, PK, SK, STAMP]).size).toBe(names.length + 4)
  })

  it('is some 550 bytes without extents, and an extent is 32', () => {
    const bare = awsTariff.headBytes(RUN, grownHead(0))
    expect(bare).toBeLessThan(580)
    expect((awsTariff.headBytes(RUN, grownHead(32)) - bare) / 32).toBeLessThanOrEqual(34)
  })

  it('is 4 KB at most with 64 extents, whatever users named', () => {
    const long = { machine_id: 'm'.repeat(128), world_id: 'w'.repeat(128) }
    const { lease, holder, ...head } = grownHead(64)
    const longest: Head = {
      ...head,
      lease: lease && { ...lease, ...long },
      holder: holder && { ...holder, ...long },
      previous: long,
      requires: Array.from({ length: 64 }, (_, n) => `${n}`.padEnd(128, 'r')),
      ticks: { ...head.ticks, current_stage: 's'.repeat(256) },
    }
    expect(awsTariff.headBytes({ tenant: 't'.repeat(64), run_id: 'r'.repeat(128) }, longest)).toBeLessThan(
      4096,
    )
  })
})
