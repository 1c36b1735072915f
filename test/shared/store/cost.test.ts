import { expect, it, vi } from 'vitest'
import { PER_REQUEST, PER_UNIT } from '../../bench/prices.ts'
import { type Bill, bill, dollarsOf, readsOf, writesOf } from '../../bench/workload.ts'

// P9 as figures; `npm run bench -- cost growth` has more of them. Merges, snapshots and sweeps are counted in.

vi.setConfig({ testTimeout: 60_000 })

const MiB = 1024 * 1024
const PLAIN = (PER_REQUEST.put ?? Number.NaN) + (PER_UNIT.item_write ?? Number.NaN)

const each = ({ readings, appends }: Bill) => ({
  writes: writesOf(readings) / appends,
  reads: readsOf(readings) / appends,
  vsPlain: dollarsOf(readings) / appends / PLAIN,
})

it.each([
  { appends: 2000, batch: 1 },
  { appends: 600, batch: 10 },
  { appends: 200, batch: 100 },
])('$appends appends of $batch frames cost little more than one object and one update each', async (size) => {
  const counted = await bill({ ...size, frameBytes: 4096 })
  const { writes, reads, vsPlain } = each(counted)
  expect(writes).toBeLessThanOrEqual(2.3)
  expect(reads).toBeLessThanOrEqual(2.3)
  expect(vsPlain).toBeLessThanOrEqual(1.35)
  const { heads } = counted.readings
  expect(heads.largest).toBeLessThanOrEqual(4096)
  expect(heads.bytes / heads.written).toBeLessThanOrEqual(1536)
  expect(counted.storedObjects).toBeLessThanOrEqual(counted.storedBytes / (8 * MiB) + 40)
})

it('requests grow with the appends and no faster', async () => {
  const small = each(await bill({ appends: 300, batch: 1, frameBytes: 300 }))
  const large = each(await bill({ appends: 3000, batch: 1, frameBytes: 300 }))
  const exponent = 1 + Math.log10((large.writes + large.reads) / (small.writes + small.reads))
  expect(exponent).toBeLessThanOrEqual(1.05)
})
