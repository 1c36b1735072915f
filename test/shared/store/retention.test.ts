import { expect, it } from 'vitest'
import { createMaintainer, endedFor, type Head } from '#store'
import { plainHeader } from '../../kit/plain-header.ts'
import { frameOf, objectKeys, StoredRun, say, testArchive } from '../../kit/stored-run.ts'

const DAY = 86_400_000
const MONTH = endedFor(30 * DAY)

const header = frameOf(JSON.stringify(plainHeader()))
const ended = frameOf('{"StatusChanged":{"status":"complete","at":1}}')

const started = async (retention = MONTH) => {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive)
  await run.append(header, say('a'))
  const maintainer = createMaintainer(kit.ports, kit.clock, { retention })
  /** Some days of a service that is always up. */
  const days = async (count: number) => {
    for (let day = 0; day < count; day++) {
      kit.clock.advance(DAY)
      for (let passes = 0; passes < 5; passes++) await maintainer.pass()
    }
  }
  const head = async () => (await kit.ports.index.head(run.key)) as Head
  return { ...kit, run, maintainer, days, head }
}

it('an ended run is deleted when it has been kept for its time, and its bytes go with the sweep', async () => {
  const { run, archive, ports, days, head } = await started()
  await run.append(ended)
  await archive.release(run.key, run.epoch)
  await days(29)
  expect((await head()).alive).toBe(true)
  await days(3)
  expect((await head()).alive).toBe(false)
  await expect(archive.view(run.key)).rejects.toMatchObject({ code: 'not_found' })
  await days(2)
  expect(await objectKeys(ports)).toEqual([])
})

it('a run that has not ended is kept for ever, and so is any run without a retention', async () => {
  const kept = await started()
  await kept.archive.release(kept.run.key, kept.run.epoch)
  await kept.days(40)
  expect((await kept.head()).alive).toBe(true)
  const unbounded = await started(() => false)
  await unbounded.run.append(ended)
  await unbounded.archive.release(unbounded.run.key, unbounded.run.epoch)
  await unbounded.days(40)
  expect((await unbounded.head()).alive).toBe(true)
})

it('an append that comes while the run is being judged saves it', async () => {
  const { run, ports, clock, head, maintainer } = await started()
  await run.append(ended)
  clock.advance(40 * DAY)
  const { commit } = ports.index
  let isFirst = true
  ports.index.commit = async (key, expect, change, card) => {
    if (isFirst && change.set.alive === false) {
      isFirst = false
      await run.append(frameOf('{"StatusChanged":{"status":"running","at":2}}'))
    }
    return commit(key, expect, change, card)
  }
  for (let passes = 0; passes < 5; passes++) await maintainer.pass()
  expect(isFirst).toBe(false)
  expect(await head()).toMatchObject({ alive: true, ended: false })
  expect(await run.stored()).toEqual(run.bytes)
})
