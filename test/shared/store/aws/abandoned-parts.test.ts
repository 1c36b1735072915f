import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createArchive, createMaintainer, type Objects, type OpenParts, systemClock } from '#store'
import { type ChooseFault, startFaultProxy } from '../../../kit/fault-proxy.ts'
import { putPart } from '../../../kit/put-part.ts'
import { portsOf, type StandIns, startStandIns, TABLE } from '../../../kit/stand-ins.ts'
import { LIMITS, StoredRun, say } from '../../../kit/stored-run.ts'

// A process that dies while it stores a large object, at each of its steps; played by a service that never answers again.

const MIB = 1_048_576
const HOUR = 3_600_000

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

const clockAhead = (ms: number) => ({ ...systemClock, now: () => Date.now() + ms })
const never = new Promise<never>(() => {})

/** Answers until the `nth` request of this operation, and nothing from then on. */
function dying(operation: string, nth = 1) {
  let seen = 0
  let isDead = false
  let die = () => {}
  const died = new Promise<void>((resolve) => {
    die = resolve
  })
  const choose: ChooseFault = (asked) => {
    if (asked.operation === operation && ++seen === nth) isDead = true
    if (!isDead) return undefined
    die()
    return never
  }
  return { choose, died }
}

let tests = 0
/** A run of two large extents, and ports to its storage: `dead` die as they are told, those of `alive` count what is asked. */
async function started(step: { service: 's3' | 'dynamodb'; operation: string; nth?: number }) {
  const prefix = `abandoned-${tests}/`
  const { choose, died } = dying(step.operation, step.nth)
  const killer = await startFaultProxy(standIns[step.service], choose)
  const counter = await startFaultProxy(standIns.s3, () => undefined)
  const dead = portsOf({ ...standIns, [step.service]: killer.endpoint }, prefix)
  const alive = portsOf({ ...standIns, s3: counter.endpoint }, prefix)
  onTestFinished(async () => {
    for (const ports of [dead, alive]) ports.close()
    for (const proxy of [killer, counter]) await proxy.stop()
  })
  const run = await StoredRun.begin(
    createArchive(alive, { clock: systemClock, limits: LIMITS }),
    `run-${tests++}`,
  )
  for (const letter of ['a', 'b']) await run.append(say(letter.repeat(6 * MIB)))
  return {
    run,
    dead,
    alive,
    died,
    aborts: () => counter.operations.get('DELETE uploadId') ?? 0,
    maintain: (ahead: number) => createMaintainer(alive, clockAhead(ahead)).pass(),
    open: async (): Promise<OpenParts[]> => {
      const all = await alive.uploadIndex.expired(Number.MAX_SAFE_INTEGER, 99)
      return all.filter(({ key }) => key.includes(run.key.run_id))
    },
  }
}

type Started = Awaited<ReturnType<typeof started>>

/** The status of a PUT of a part: 404 where the storage has forgotten the upload. */
async function partStatus({ alive }: Started, place: OpenParts): Promise<number> {
  const url = await alive.uploads.partUrl(place, { part_number: 9, length: 1 }, 60)
  return (await putPart(alive, url, new Uint8Array(1))).status
}

const AT_PARTS = [
  ['before its first part', { service: 's3', operation: 'PUT partNumber uploadId' }],
  ['between two parts', { service: 's3', operation: 'PUT partNumber uploadId', nth: 2 }],
  ['before its completion', { service: 's3', operation: 'POST uploadId' }],
] as const

const WHAT: [string, (started: Started) => Promise<unknown>][] = [
  [
    'a final merge',
    async ({ run, dead }) => {
      await run.archive.release(run.key, run.epoch)
      await createMaintainer(dead, systemClock).visit(run.key)
    },
  ],
  [
    'a fork',
    ({ run, dead }) => {
      const archive = createArchive(dead, { clock: systemClock, limits: LIMITS })
      const owner = { machine_id: 'm2', world_id: 'w2' }
      return archive.fork(run.key, { seq: 2, run_id: `${run.key.run_id}-fork`, ...owner })
    },
  ],
  [
    'a large object',
    ({ run, dead }) =>
      (dead.objects as Objects).put(
        `runs/default/${run.key.run_id}/x`,
        [6, 6].map((mib) => new Uint8Array(mib * MIB)),
        {},
      ),
  ],
]

describe.each(WHAT)('what %s leaves', { timeout: 30_000 }, (_what, act) => {
  it.each(AT_PARTS)('when its process dies %s is aborted an hour later', async (_when, step) => {
    const kit = await started(step)
    act(kit).catch(() => {}) // fails when the test is over
    await kit.died
    const [left, ...more] = await kit.open()
    if (!left) throw new Error('nothing is written down')
    expect(more).toEqual([])
    expect(await partStatus(kit, left)).toBe(200)

    await kit.maintain(0)
    expect(kit.aborts(), 'it may still be alive').toBe(0)
    expect(await kit.open()).toEqual([left])
    await Promise.all([kit.maintain(HOUR + 60_000), kit.maintain(HOUR + 60_000)])
    expect(kit.aborts()).toBeGreaterThan(0)
    expect(await kit.open()).toEqual([])
    expect(await partStatus(kit, left)).toBe(404)
    const aborts = kit.aborts()
    await kit.maintain(HOUR + 60_000)
    expect(kit.aborts()).toBe(aborts)
    expect(Buffer.compare(await kit.run.stored(), kit.run.bytes)).toBe(0)
  })
})

it('a merge that died when all was stored loses nothing by being aborted', { timeout: 30_000 }, async () => {
  const kit = await started({ service: 'dynamodb', operation: 'DeleteItem' })
  await kit.run.archive.release(kit.run.key, kit.run.epoch)
  createMaintainer(kit.dead, systemClock)
    .visit(kit.run.key)
    .catch(() => {})
  await kit.died
  const [left] = await kit.open()
  await kit.maintain(0)
  await kit.maintain(HOUR + 60_000)
  expect(left && (await kit.alive.objects.get(left.key))?.length).toBe(kit.run.tail)
  expect(await kit.open()).toEqual([])
  expect(Buffer.compare(await kit.run.stored(), kit.run.bytes)).toBe(0)
})

it('a merge whose upload was aborted under it fails, and the next one is made', {
  timeout: 30_000,
}, async () => {
  const kit = await started({ service: 's3', operation: 'none' })
  const stopping = await startFaultProxy(standIns.s3, async ({ operation }) => {
    if (operation === 'POST uploadId') {
      for (const open of await kit.open()) await kit.alive.uploads.abort(open)
    }
    return undefined
  })
  const slept = portsOf({ ...standIns, s3: stopping.endpoint }, `abandoned-${tests - 1}/`, TABLE)
  onTestFinished(() => {
    slept.close()
    return stopping.stop()
  })
  await kit.run.archive.release(kit.run.key, kit.run.epoch)
  const failed = createMaintainer(slept, systemClock).visit(kit.run.key)
  await expect(failed).rejects.toMatchObject({ code: 'unavailable' })
  await kit.maintain(HOUR)
  expect((await kit.run.archive.run(kit.run.key)).answer.stored.objects).toBe(1)
  expect(Buffer.compare(await kit.run.stored(), kit.run.bytes)).toBe(0)
})
