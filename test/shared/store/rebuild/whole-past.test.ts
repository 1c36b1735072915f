import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, type Head, type StorePorts } from '#store'
import { openLocalStore } from '#store/local'
import { memoryPorts } from '#store/memory'
import { type ManualClock, manualClock } from '../../../kit/manual-clock.ts'
import { answersOf, type Deed, deeds, History } from '../../../kit/rebuild-history.ts'
import { portsOf, type StandIns, startStandIns } from '../../../kit/stand-ins.ts'
import { joined, LIMITS, say, sha256 } from '../../../kit/stored-run.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { bare, HOUR, rebuilt, WEEK } from './kit.ts'

/** Plays a past, takes the index away by `wipe`, rebuilds it, and holds every answer against the one before. */
async function surviving(
  past: readonly Deed[],
  ports: StorePorts,
  clock: ManualClock,
  wipe: () => Promise<StorePorts>,
) {
  const history = new History(ports, clock)
  await history.play(past)
  const before = await Promise.all(
    history.runs.map((run) => answersOf(history.archive, run.key, history.told(run))),
  )
  const heads = await Promise.all(history.runs.map(({ key }) => ports.index.head(key)))
  const order = await history.archive.list('default', { order: 'asc', limit: 50 })

  const after = await wipe()
  clock.advance(1000)
  const archive = createArchive(after, { clock, limits: LIMITS })
  for (const run of await rebuilt(after, clock)) expect(run).toMatchObject({ undecided: [], lost: null })
  expect(
    await Promise.all(history.runs.map((run) => answersOf(archive, run.key, history.told(run)))),
  ).toEqual(before)
  const listed = await archive.list('default', { order: 'asc', limit: 50 })
  expect(listed.items).toEqual(order.items)

  for (const [n, { key, bytes, epoch }] of history.runs.entries()) {
    const was = heads[n] as Head
    const head = (await after.index.head(key)) as Head
    expect(head.epoch).toBeGreaterThanOrEqual(was.epoch + 2 ** 20)
    expect(head.sweep).toBeGreaterThanOrEqual(was.sweep)
    const late = archive.append(key, { epoch, offset: bytes.length, bytes: say('late') })
    await expect(late).rejects.toMatchObject({ code: 'fenced' })
  }
  await goesOn(history, after, clock)
}

/** The runs live on: appends, merges, and the sweep once the week is over. */
async function goesOn(history: History, ports: StorePorts, clock: ManualClock) {
  const archive = createArchive(ports, { clock, limits: LIMITS })
  const maintainer = createMaintainer(ports, clock)
  await maintainer.pass()
  for (const run of history.runs) {
    const { epoch, tail } = (await archive.acquire(run.key, run.owner)).answer
    const bytes = say('it goes on')
    await archive.append(run.key, { epoch, offset: tail, bytes })
    run.bytes = joined(run.bytes, bytes)
  }
  for (const pause of [2 * HOUR, WEEK, 2 * HOUR]) {
    clock.advance(pause)
    await maintainer.pass()
  }
  for (const run of history.runs) {
    expect((await answersOf(archive, run.key, new Set())).bytes).toBe(sha256(run.bytes))
  }
}

describe('a rebuild from the objects alone', () => {
  it('gives every answer back, whatever the runs went through', async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (past) => {
        const clock = manualClock()
        const ports = memoryPorts(clock)
        await surviving(past, ports, clock, async () => bare(ports, clock))
      }),
      { numRuns: 60 },
    )
  }, 120_000)

  it('does so on files', async () => {
    const folder = temporaryFolder()
    const clock = manualClock(Date.now())
    const store = await openLocalStore(folder, { clock })
    let after: Awaited<ReturnType<typeof openLocalStore>> | undefined
    await surviving(PAST, store.ports, clock, async () => {
      store.close()
      for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `index.sqlite${end}`), { force: true })
      after = await openLocalStore(folder, { clock })
      return after.ports
    })
    after?.close()
  }, 60_000)

  describe('on S3 and DynamoDB', () => {
    let standIns: StandIns
    beforeAll(async () => {
      standIns = await startStandIns()
    })
    afterAll(() => standIns.stop())

    it('does so under any prefix', async () => {
      const clock = manualClock(Date.now())
      const before = portsOf(standIns, 'some/prefix/')
      const after = portsOf(standIns, 'some/prefix/', 'other-table')
      await after.ensureTable()
      await surviving(PAST, before, clock, async () => after)
      before.close()
      after.close()
    }, 60_000)
  })
})

/** A past with some of everything. */
const PAST: readonly Deed[] = fc.sample(deeds, { numRuns: 3, seed: 20_261_130 }).flat().slice(0, 120)
