import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  appendSomewhere,
  beginRun,
  bytesOf,
  contend,
  contendedArchive,
  insist,
  note,
  type Placed,
  wantedBytes,
} from '../../../kit/contention.ts'
import { FAULTS, type FaultProxy, seededFaults, startFaultProxy } from '../../../kit/fault-proxy.ts'
import { portsOf, type StandIns, startStandIns } from '../../../kit/stand-ins.ts'

// The archive on the real SDK clients while one request in ten goes wrong, in every way the proxy knows.

const SEED = 20_261_130
const FAULT_RATE = 0.1
const RUNS = ['contended-1', 'contended-2']
const WRITERS_A_RUN = 4
const BATCHES = 15

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

describe('an archive whose services fail', () => {
  it('holds every batch of every writer once, where the writer was told it is', {
    timeout: 60_000,
  }, async () => {
    const faulty = portsOf({ s3: s3.endpoint, dynamodb: dynamodb.endpoint })
    const honest = portsOf(standIns)
    const upkeepPorts = portsOf({ s3: upkeep.endpoint, dynamodb: dynamodb.endpoint })
    const found = contendedArchive(honest)

    const check = async (run_id: string) => {
      const writers = { run_id, writers: WRITERS_A_RUN, batches: BATCHES, passEvery: 5 }
      const wanted = wantedBytes(await contend({ faulty, upkeep: upkeepPorts }, writers))
      const run = { tenant: 'default', run_id }
      expect(Buffer.compare(await bytesOf(found, run), wanted)).toBe(0)
      const { answer } = await found.run(run)
      expect(answer).toMatchObject({ tail: wanted.length, frames: WRITERS_A_RUN * BATCHES })
      expect(answer.stored.objects).toBeLessThan(WRITERS_A_RUN * BATCHES)
    }
    await Promise.all(RUNS.map(check))

    expect([...s3.faults.keys()].sort()).toEqual([...FAULTS].sort())
    expect([...dynamodb.faults.keys()].sort()).toEqual([...FAULTS].sort())
    const lists = [...s3.operations.keys()].filter((operation) => operation.includes('list-type'))
    expect(lists, 'no append or read lists the bucket (P8)').toEqual([])
    for (const ports of [faulty, honest, upkeepPorts]) ports.close()
  })

  it('lets nothing of an older epoch in after a takeover', { timeout: 60_000 }, async () => {
    const faulty = portsOf({ s3: s3.endpoint, dynamodb: dynamodb.endpoint })
    const run = { tenant: 'default', run_id: 'taken' }
    const archive = contendedArchive(faulty)
    const first = await beginRun(archive, run)

    const landed: Placed[] = []
    const loser = async () => {
      for (let n = 0; ; n++) landed.push(await appendSomewhere(archive, run, first, note(`old ${n}`)))
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
    for (let n = 0; n < 5; n++) landed.push(await appendSomewhere(archive, run, epoch, note(`new ${n}`)))
    const found = await insist(() => bytesOf(archive, run))
    const texts = [
      ...Buffer.from(found)
        .toString('latin1')
        .matchAll(/"((?:old|new) \d+)"/g),
    ].map(([, text]) => text)
    const firstNew = texts.indexOf('new 0')
    expect(texts.slice(firstNew)).toEqual([0, 1, 2, 3, 4].map((n) => `new ${n}`))
    // The loser's last batch may have landed without its answer: fenced tells it the tail and digest to find out.
    const acked = landed.filter(({ bytes }) => Buffer.from(bytes).includes('old')).length
    expect(firstNew - acked).toBeLessThanOrEqual(1)
    expect(texts.slice(0, acked)).toEqual(Array.from({ length: acked }, (_, n) => `old ${n}`))
    faulty.close()
  })
})
