import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { type Archive, createArchive, type RunIndex } from '#store'
import { memoryPorts } from '#store/memory'
import { manualClock } from '../../kit/manual-clock.ts'
import { LIMITS, StoredRun, say } from '../../kit/stored-run.ts'

type Fate = 'answer lost' | 'request lost'

/** An archive in which the next commits have these fates; after each of them comes what others do `meanwhile`. */
function doubtfulArchive(meanwhile = async (_others: Archive) => {}) {
  const clock = manualClock()
  const ports = memoryPorts(clock)
  const options = { clock, limits: LIMITS }
  const fates: Fate[] = []
  const commit: RunIndex['commit'] = async (...args) => {
    const fate = fates.shift()
    if (fate === undefined) return ports.index.commit(...args)
    if (fate === 'answer lost') await ports.index.commit(...args)
    await meanwhile(createArchive(ports, options))
    throw new RunfoldError('unavailable', 'the outcome is not known')
  }
  const archive = createArchive({ ...ports, index: { ...ports.index, commit } }, options)
  return { archive, ports, clock, fates }
}

describe.each<Fate>(['answer lost', 'request lost'])('where a commit has its %s', (fate) => {
  it('an append is there once', async () => {
    const { archive, fates } = doubtfulArchive()
    const run = await StoredRun.begin(archive)
    fates.push(fate)
    expect(await run.append(say('a'))).toMatchObject({ frames: 1, replayed: fate === 'answer lost' })
    expect(await run.stored()).toEqual(run.bytes)
  })

  it('a release is a release', async () => {
    const { archive, fates } = doubtfulArchive()
    const run = await StoredRun.begin(archive)
    fates.push(fate)
    await archive.release(run.key, run.epoch)
    expect(await archive.leaseState(run.key)).toMatchObject({ epoch: run.epoch, lease: null })
  })

  it('a renewal counts from now', async () => {
    const { archive, clock, fates } = doubtfulArchive()
    const run = await StoredRun.begin(archive)
    clock.advance(9_000)
    fates.push(fate)
    const { lease } = await archive.renew(run.key, { epoch: run.epoch })
    expect(Date.parse(lease.expires_at)).toBe(clock.now() + 60_000)
  })

  it('a deletion is one', async () => {
    const { archive, ports, fates } = doubtfulArchive()
    const run = await StoredRun.begin(archive)
    await run.append(say('a'))
    fates.push(fate)
    await archive.remove(run.key, { force: true })
    expect(await ports.index.head(run.key)).toMatchObject({ alive: false, epoch: 2 })
    expect(await ports.index.card(run.key)).toBeUndefined()
  })
})

it('a deletion whose answer is lost leaves the life that began meanwhile alone', async () => {
  const { archive, ports, fates } = doubtfulArchive(async (others) => {
    await others.acquire(run.key, { machine_id: 'm', world_id: 'w' })
  })
  const run = await StoredRun.begin(archive)
  fates.push('answer lost')
  await archive.remove(run.key, { force: true })
  expect(await ports.index.head(run.key)).toMatchObject({ alive: true, life: 3, epoch: 3 })
})

it('too much doubt is told', async () => {
  const { archive, fates } = doubtfulArchive()
  const run = await StoredRun.begin(archive)
  for (let n = 0; n < 9; n++) fates.push('request lost')
  await expect(archive.release(run.key, run.epoch)).rejects.toMatchObject({ code: 'unavailable' })
  await expect(archive.remove(run.key, { force: true })).rejects.toMatchObject({ code: 'unavailable' })
})
