import { PREAMBLE } from '#codec'
import { createArchive, createMaintainer, type Metered, meter, type Readings, type StorePorts } from '#store'
import { awsTariff } from '#store/aws'
import { memoryPorts } from '#store/memory'
import { manualClock } from '../kit/manual-clock.ts'
import { frameOf } from '../kit/stored-run.ts'
import { PER_REQUEST, PER_UNIT } from './prices.ts'

export interface Workload {
  readonly appends: number
  /** Frames of an append, and bytes of a frame. */
  readonly batch: number
  readonly frameBytes: number
}

export interface Bill {
  readonly readings: Readings
  readonly appends: number
  /** At the end. */
  readonly storedObjects: number
  readonly storedBytes: number
  /** At the worst time, with what merges have replaced and the sweep has not taken yet. */
  readonly peakBytes: number
}

const BETWEEN_APPENDS_MS = 1000
const MAINTAIN_EVERY_MS = 1000
/** How often it is looked what is stored. */
const LOOKS = 20
const LIMITS = { max_batch_bytes: 32 << 20, max_frame_bytes: 256 << 20 }
const HOUR_MS = 3_600_000

/** One run, written at a steady pace, merged and swept as it grows, ended, and looked at until nothing is due any more. */
export async function bill({ appends, batch, frameBytes }: Workload): Promise<Bill> {
  const clock = manualClock()
  const ports = memoryPorts(clock)
  const metered = meter(ports, awsTariff)
  const archive = createArchive(metered.ports, { clock, limits: LIMITS })
  const maintainer = createMaintainer(metered.ports, clock)
  const key = { tenant: 'default', run_id: 'run-0123456789abcdef' }
  const worker = { machine_id: '0123456789abcdef', world_id: 'fedcba9876543210' }

  const { epoch } = (await archive.acquire(key, worker)).answer
  let { tail: offset } = await archive.append(key, { offset: 0, epoch, bytes: FIRST_BATCH })
  metered.reset()
  const bytes = Buffer.concat(Array.from({ length: batch }, () => message(frameBytes)))
  let maintainAt = clock.now() + MAINTAIN_EVERY_MS
  let peakBytes = 0
  for (let n = 0; n < appends; n++) {
    clock.advance(BETWEEN_APPENDS_MS)
    offset = (await archive.append(key, { offset, epoch, bytes })).tail
    if (clock.now() >= maintainAt) {
      await maintainer.pass()
      maintainAt = clock.now() + MAINTAIN_EVERY_MS
    }
    if (n % Math.ceil(appends / LOOKS) === 0) peakBytes = Math.max(peakBytes, (await storedIn(ports)).bytes)
  }
  await archive.release(key, epoch)
  for (let hours = 0; hours < 3; hours++) {
    for (let passes = 0; passes < 20; passes++) await maintainer.pass()
    clock.advance(HOUR_MS)
  }
  const stored = await storedIn(ports)
  return {
    readings: metered.readings(),
    appends,
    storedObjects: stored.objects,
    storedBytes: stored.bytes,
    peakBytes: Math.max(peakBytes, stored.bytes),
  }
}

async function storedIn({ objects }: StorePorts): Promise<{ objects: number; bytes: number }> {
  const stored = { objects: 0, bytes: 0 }
  for await (const { length } of objects.list('')) {
    stored.objects++
    stored.bytes += length
  }
  return stored
}

/** What the readings cost, without the looks at the due list, which cost the same however much is appended. */
export function dollarsOf(readings: Readings): number {
  return (Object.entries(PER_REQUEST) as [Metered, number][])
    .map(([kind, price]) => readings[kind].requests * price)
    .concat(
      (Object.entries(PER_UNIT) as [Metered, number][])
        .filter(([kind]) => kind !== 'look')
        .map(([kind, price]) => readings[kind].units * price),
    )
    .reduce((sum, dollars) => sum + dollars, 0)
}

export const writesOf = ({ put, copy, post, item_write }: Readings): number =>
  put.requests + copy.requests + post.requests + item_write.requests

export const readsOf = ({ get, item_read, query }: Readings): number =>
  get.requests + item_read.requests + query.requests

const HEADER = {
  identity: { run_id: 'run', machine_id: 'm', world_id: 'w', created_at: 1_790_000_000 },
  meta: {
    run_id: 'run',
    agent_name: 'builder',
    agent_path: '/agents/builder',
    task: 'mend what is broken',
    status: 'running',
    current_stage: 'implementation',
    stage_index: 1,
    num_stages: 3,
    iteration: 4,
    prompt_tokens: 123_456,
    completion_tokens: 7_890,
    workdir: '/home/user/project',
    started_at: 1_790_000_000,
    updated_at: 1_790_000_000,
  },
}
const FIRST_BATCH = Buffer.concat([PREAMBLE, frameOf(JSON.stringify({ Header: HEADER }))])

const said = (content: string) =>
  frameOf(JSON.stringify({ Message: { message: { role: 'user', content }, at: 1_790_000_001 } }))

/** @param bytes with the length before it */
const message = (bytes: number) => said('x'.repeat(Math.max(0, bytes - said('').length)))
