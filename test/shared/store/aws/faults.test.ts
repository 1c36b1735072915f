import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRunfoldError, type RunKey } from '#schema'
import { type Archive, createArchive, createMaintainer, systemClock } from '#store'
import { FAULTS, type FaultProxy, seededFaults, startFaultProxy } from '../../../kit/fault-proxy.ts'
import { portsOf, type StandIns, startStandIns } from '../../../kit/stand-ins.ts'

// The archive on the real SDK clients while one request in ten goes wrong, in every way the proxy knows.

const SEED = 20_261_130
const FAULT_RATE = 0.1
const RUNS = ['contended-1', 'contended-2']
const WRITERS_A_RUN = 4
const BATCHES = 15
const MIB = 1_048_576
const limits = { max_batch_bytes: 8 * MIB, max_frame_bytes: 8 * MIB }
const worker = { machine_id: 'machine-1', world_id: 'world-1' }
const PREAMBLE = Buffer.from('LVR1\0\u0001', 'latin1')

let standIns: StandIns
let s3: FaultProxy
let dynamodb: FaultProxy
/** Apart, for maintenance alone may list. */
let upkeep: FaultProxy
beforeAll(async () => {
  standIns = await startStandIns()
  s3 = await startFaultProxy(standIns.s3, seededFaults(SEED, FAULT_RATE))
  dynamodb = await startFaultProxy(standIns.dynamodb, seededFaults(SEED + 1, FAULT_RATE))
  upkeep = await startFaultProxy(standIns.s3, seededFaults(SEED + 2, FAULT_RATE))
})
afterAll(async () => {
  await s3.stop()
  await dynamodb.stop()
  await upkeep.stop()
  await standIns.stop()
})

/** Any JSON is kept; what it says is for the test to find again. */
function frame(text: string): Buffer {
  const payload = Buffer.from(JSON.stringify({ Note: text }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(payload.length))
  return Buffer.concat([length, payload])
}

/** Sends the same request again for as long as the answer says that it may. */
async function insist<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable', 'slow_down')) throw error
    }
  }
}

interface Placed {
  readonly offset: number
  readonly bytes: Buffer
}

/** Appends the batch wherever the archive ends, as one of several writers of an epoch. */
async function appendSomewhere(archive: Archive, run: RunKey, epoch: number, bytes: Buffer): Promise<Placed> {
  let offset = (await insist(() => archive.run(run))).answer.tail
  for (;;) {
    const request = { offset, epoch, bytes }
    try {
      await insist(() => archive.append(run, request))
      return { offset, bytes }
    } catch (error) {
      if (!isRunfoldError(error, 'offset_conflict', 'gap', 'overlap')) throw error
      offset = Number(error.facts.tail)
    }
  }
}

async function bytesOf(archive: Archive, run: RunKey): Promise<Buffer> {
  const { answer } = await archive.run(run)
  const chunks: Uint8Array[] = []
  for await (const chunk of (await archive.view(run)).bytes(0, answer.tail)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('an archive whose services fail', () => {
  it('holds every batch of every writer once, where the writer was told it is', {
    timeout: 60_000,
  }, async () => {
    const faulty = portsOf({ s3: s3.endpoint, dynamodb: dynamodb.endpoint })
    const honest = portsOf(standIns)
    const archive = createArchive(faulty, { clock: systemClock, limits })
    const found = createArchive(honest, { clock: systemClock, limits })
    const upkeepPorts = portsOf({ s3: upkeep.endpoint, dynamodb: dynamodb.endpoint })
    const maintainer = createMaintainer(upkeepPorts, systemClock)

    const contend = async (run_id: string) => {
      const run = { tenant: 'default', run_id }
      const { epoch } = (await insist(() => archive.acquire(run, worker))).answer
      await insist(() => archive.append(run, { offset: 0, epoch, bytes: PREAMBLE }))
      const write = async (writer: number) => {
        const placed: Placed[] = []
        for (let n = 0; n < BATCHES; n++) {
          const text = `${writer}.${n} ${'x'.repeat((writer * 131 + n * 17) % 900)}`
          placed.push(await appendSomewhere(archive, run, epoch, frame(text)))
          // Merges while others append; what fails here is done by a later pass.
          if (n % 5 === 4) await maintainer.pass().catch(() => {})
        }
        return placed
      }
      const writers = await Promise.all(Array.from({ length: WRITERS_A_RUN }, (_, writer) => write(writer)))
      for (const placed of writers) {
        const offsets = placed.map(({ offset }) => offset)
        expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
      }
      const inOrder = writers.flat().sort((a, b) => a.offset - b.offset)
      const wanted = Buffer.concat([PREAMBLE, ...inOrder.map(({ bytes }) => bytes)])
      expect((await bytesOf(found, run)).equals(wanted)).toBe(true)
      const { answer } = await found.run(run)
      expect(answer).toMatchObject({ tail: wanted.length, frames: WRITERS_A_RUN * BATCHES })
      expect(answer.stored.objects).toBeLessThan(WRITERS_A_RUN * BATCHES)
    }
    await Promise.all(RUNS.map(contend))

    expect([...s3.faults.keys()].sort()).toEqual([...FAULTS].sort())
    expect([...dynamodb.faults.keys()].sort()).toEqual([...FAULTS].sort())
    const lists = [...s3.operations.keys()].filter((operation) => operation.includes('list-type'))
    expect(lists, 'no append or read lists the bucket (P8)').toEqual([])
    for (const ports of [faulty, honest, upkeepPorts]) ports.close()
  })

  it('lets nothing of an older epoch in after a takeover', { timeout: 60_000 }, async () => {
    const faulty = portsOf({ s3: s3.endpoint, dynamodb: dynamodb.endpoint })
    const run = { tenant: 'default', run_id: 'taken' }
    const archive = createArchive(faulty, { clock: systemClock, limits })
    const first = (await insist(() => archive.acquire(run, worker))).answer
    await insist(() => archive.append(run, { offset: 0, epoch: first.epoch, bytes: PREAMBLE }))

    const landed: Placed[] = []
    const loser = async () => {
      for (let n = 0; ; n++) landed.push(await appendSomewhere(archive, run, first.epoch, frame(`old ${n}`)))
    }
    const taker = async () => {
      while (landed.length < 5) await new Promise(setImmediate)
      const other = { machine_id: 'machine-2', world_id: 'world-2', force: true }
      return (await insist(() => archive.acquire(run, other))).answer
    }
    const [lost, taken] = await Promise.allSettled([loser(), taker()])
    expect(lost).toMatchObject({ reason: { code: 'fenced' } })
    if (taken.status === 'rejected') throw taken.reason

    const { epoch } = taken.value
    for (let n = 0; n < 5; n++) landed.push(await appendSomewhere(archive, run, epoch, frame(`new ${n}`)))
    const found = await insist(() => bytesOf(archive, run))
    const texts = [...found.toString('latin1').matchAll(/"((?:old|new) \d+)"/g)].map(([, text]) => text)
    const firstNew = texts.indexOf('new 0')
    expect(texts.slice(firstNew)).toEqual([0, 1, 2, 3, 4].map((n) => `new ${n}`))
    // The loser's last batch may have landed without its answer: fenced tells it the tail and digest to find out.
    const acked = landed.filter(({ bytes }) => bytes.includes('old')).length
    expect(firstNew - acked).toBeLessThanOrEqual(1)
    expect(texts.slice(0, acked)).toEqual(Array.from({ length: acked }, (_, n) => `old ${n}`))
    faulty.close()
  })
})
