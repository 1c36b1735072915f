import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { createArchive, createMaintainer, type Head } from '#store'
import { LIMITS } from '../../../kit/stored-run.ts'
import { bare, begun, brokenOff, HOUR, KEY, rebuilt, removedUnmarked, setBack } from './kit.ts'

describe('a rebuild of a run’s lives', () => {
  it('gives back a run without any frame, above the epoch it had', async () => {
    const { rebuilt, again } = await begun(0)
    expect(await rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: 0, epoch: 2 ** 20 + 1 })
    expect(await again.index.head(KEY)).toMatchObject({ alive: true, lease: null })
  })

  it('gives no deleted run back, nor its epochs to a new one', async () => {
    const kit = await begun(3)
    const { archive, run, again, clock } = kit
    await archive.remove(run.key, { force: true })
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'deleted' })
    const anew = createArchive(again, { clock, limits: LIMITS })
    await expect(anew.view(KEY)).rejects.toMatchObject({ code: 'not_found' })
    expect((await anew.acquire(KEY, run.owner)).answer.epoch).toBeGreaterThan(2 ** 20)
  })

  it('does not take a run for deleted whose deletion was broken off before it was made', async () => {
    const kit = await begun(3)
    const { run, archive, ports } = kit
    ports.index.commit = async () => {
      throw new Error('a crash')
    }
    await expect(archive.remove(run.key, { force: true })).rejects.toThrow('a crash')
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: run.tail })
  })

  it('does not take a run for deleted whose deletion was refused at its second attempt', async () => {
    const kit = await begun(3)
    const { run, archive, ports, clock } = kit
    clock.advance(HOUR)
    const { commit } = ports.index
    ports.index.commit = async (...asked) => {
      ports.index.commit = commit
      await archive.acquire(run.key, run.owner)
      return commit(...asked)
    }
    await expect(archive.remove(run.key, { force: false })).rejects.toMatchObject({ code: 'lease_held' })
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: run.tail })
  })

  describe('gives no run back whose deletion was made but not marked', () => {
    const unmarked = async () => {
      const kit = await begun(3)
      await removedUnmarked(kit)
      return kit
    }

    it('once maintenance has been there', async () => {
      const kit = await unmarked()
      await createMaintainer(kit.ports, kit.clock).pass()
      expect(await kit.rebuilt()).toMatchObject({ outcome: 'deleted' })
    })

    it('once whoever asked for it has asked again', async () => {
      const kit = await unmarked()
      const again = kit.archive.remove(kit.run.key, { force: true })
      await expect(again).rejects.toMatchObject({ code: 'not_found' })
      expect(await kit.rebuilt()).toMatchObject({ outcome: 'deleted' })
    })

    it('once whoever asked for it has asked again after maintenance that could not mark it', async () => {
      const kit = await unmarked()
      const { objects } = kit.ports
      const { put } = objects
      objects.put = async () => {
        throw new RunfoldError('unavailable', 'the storage is away')
      }
      await expect(createMaintainer(kit.ports, kit.clock).pass()).rejects.toThrow(AggregateError)
      objects.put = put
      const again = kit.archive.remove(kit.run.key, { force: true })
      await expect(again).rejects.toMatchObject({ code: 'not_found' })
      expect(await kit.rebuilt()).toMatchObject({ outcome: 'deleted' })
    })

    it('when the answer to it was lost', async () => {
      const kit = await begun(3)
      const { run, archive, ports } = kit
      const { commit } = ports.index
      ports.index.commit = async (...asked) => {
        await commit(...asked)
        throw new RunfoldError('unavailable', 'no answer came')
      }
      await archive.remove(run.key, { force: true })
      ports.index.commit = commit
      expect(await kit.rebuilt()).toMatchObject({ outcome: 'deleted' })
    })
  })

  it('gives a run back that goes on since its index was set back to before its deletion', async () => {
    const kit = await begun(3)
    const { run, again, clock } = kit
    const old = await setBack(kit)
    await old.release(run.key, run.epoch)
    clock.advance(2 * HOUR)
    await createMaintainer(again, clock).pass()
    const lost = bare(again, clock)
    expect(await rebuilt(lost, clock)).toMatchObject([{ outcome: 'rebuilt', tail: run.tail }])
  })

  it('makes of a life that was announced and never made an empty run, and nothing of the one before', async () => {
    const kit = await begun(3)
    const { run, archive, ports, again } = kit
    await archive.remove(run.key, { force: true })
    const tombstone = (await ports.index.head(run.key)) as Head
    await brokenOff(ports, () => archive.acquire(run.key, run.owner))
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: 0, frames: 0, undecided: [] })
    const head = (await again.index.head(KEY)) as Head
    expect(head.life).toBeGreaterThan(tombstone.life)
    expect(head.epoch).toBeGreaterThan(tombstone.epoch + 2 ** 20)
    expect(head.sweep).toBeGreaterThan(tombstone.sweep)
  })

  it('leaves what the index knows as it is, and may be repeated', async () => {
    const kit = await begun(3)
    await kit.rebuilt()
    const head = await kit.again.index.head(KEY)
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'known' })
    expect(await kit.again.index.head(KEY)).toEqual(head)
  })
})
