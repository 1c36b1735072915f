import { describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, type Head } from '#store'
import { LIMITS } from '../../../kit/stored-run.ts'
import { begun, HOUR, KEY } from './kit.ts'

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

  it('is not misled by a deletion that was announced and never made', async () => {
    const kit = await begun(3)
    const { run, archive, ports, clock } = kit
    const commit = ports.index.commit
    ports.index.commit = async () => {
      throw new Error('a crash')
    }
    await expect(archive.remove(run.key, { force: true })).rejects.toThrow('a crash')
    ports.index.commit = commit
    // The run lives on, and its next sweep takes the marker back.
    await archive.release(run.key, run.epoch)
    clock.advance(2 * HOUR)
    await createMaintainer(ports, clock).pass()
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: run.tail })
  })

  it('makes of a life that was announced and never made an empty run, and nothing of the one before', async () => {
    const kit = await begun(3)
    const { run, archive, ports, again } = kit
    await archive.remove(run.key, { force: true })
    const tombstone = (await ports.index.head(run.key)) as Head
    const commit = ports.index.commit
    ports.index.commit = async () => {
      throw new Error('a crash')
    }
    await expect(archive.acquire(run.key, run.owner)).rejects.toThrow('a crash')
    ports.index.commit = commit
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
