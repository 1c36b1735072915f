import { describe, expect, it } from 'vitest'
import { createMaintainer, type Head } from '#store'
import { say } from '../../../kit/stored-run.ts'
import {
  bare,
  begun,
  brokenOff,
  HEIR,
  HOUR,
  KEY,
  keysOf,
  rebuilt,
  removalBegun,
  removedUnmarked,
  setBack,
} from './kit.ts'

const DAY = 24 * HOUR

describe('of a deletion that was begun', () => {
  it('a note precedes the tombstone', async () => {
    const { archive, run, ports } = await begun(3)
    const { commit } = ports.index
    let before: string[] = []
    ports.index.commit = async (...asked) => {
      before = [...(await keysOf(ports, 'ending')), ...(await keysOf(ports, 'tombstone'))]
      return commit.apply(ports.index, asked)
    }
    await archive.remove(run.key, { force: true })
    expect(before).toEqual([expect.stringContaining('/ending-')])
    expect(await keysOf(ports, 'ending')).toEqual(before)
  })

  it('and not made a rebuild gives the run back, and says so', async () => {
    const kit = await begun(3)
    await removalBegun(kit)
    const [ending] = await keysOf(kit.ports, 'ending')
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: kit.run.tail, ending })
    expect(ending).toBeDefined()
  })

  it('and made, but neither marked nor acknowledged, a rebuild gives the run back, and says so', async () => {
    const kit = await begun(3)
    await removedUnmarked(kit)
    const [ending] = await keysOf(kit.ports, 'ending')
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: kit.run.tail, ending })
  })

  it('a rebuild says nothing where none was begun', async () => {
    expect(await (await begun(3)).rebuilt()).toMatchObject({ outcome: 'rebuilt', ending: null })
  })

  it('a rebuild says nothing once another owner has written, so that it was not made', async () => {
    const kit = await begun(3)
    await removalBegun(kit)
    const { run, archive } = kit
    run.epoch = (await archive.acquire(run.key, { ...HEIR, force: true })).answer.epoch
    await run.append(say('it lives'))
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, ending: null })
  })

  it('an empty run keeps all that only its manifest tells', async () => {
    const kit = await begun(0)
    const { again } = kit
    const { holder, created_at } = (await kit.ports.index.head(KEY)) as Head
    kit.clock.advance(HOUR)
    await removalBegun(kit)
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: 0 })
    expect(holder).not.toBe(null)
    expect(await again.index.head(KEY)).toMatchObject({ alive: true, holder, created_at })
  })

  it('a rebuild says so although it was broken off when it had to cut the run', async () => {
    const kit = await begun(6)
    await removalBegun(kit)
    const extents = await keysOf(kit.ports, '0')
    await kit.ports.objects.remove([extents[3] as string])
    await brokenOff(kit.again, kit.rebuilt)
    const found = await kit.rebuilt()
    expect(found?.lost).not.toBe(null)
    expect(found?.ending).toMatch(/\/ending-/)
  })

  it('and not made nothing is taken for deleted that goes on since its index was set back', async () => {
    const kit = await begun(3)
    const { run, again, clock } = kit
    const old = await setBack(kit)
    await old.acquire(run.key, { ...HEIR, force: true })
    await removalBegun({ ...kit, archive: old, ports: again })
    const [found] = await rebuilt(bare(again, clock), clock)
    expect(found).toMatchObject({ outcome: 'rebuilt', tail: run.tail })
    expect(found?.ending).toMatch(/\/ending-/)
  })
})

describe('the note that precedes a tombstone', () => {
  it('is not left by who was refused at once', async () => {
    const { archive, run, ports } = await begun(3)
    await expect(archive.remove(run.key, { force: false })).rejects.toMatchObject({ code: 'lease_held' })
    expect(await keysOf(ports, 'ending')).toEqual([])
  })

  it('is one, though the lease is renewed meanwhile, and another where someone else took the run', async () => {
    for (const [isTaken, count] of [
      [false, 1],
      [true, 2],
    ] as const) {
      const { archive, run, ports, clock } = await begun(1)
      clock.advance(1000)
      const { commit } = ports.index
      ports.index.commit = async (...asked) => {
        ports.index.commit = commit
        if (isTaken) await archive.acquire(run.key, { ...HEIR, force: true })
        else await archive.renew(run.key, { epoch: run.epoch })
        clock.advance(1000)
        return commit.apply(ports.index, asked)
      }
      await archive.remove(run.key, { force: true })
      expect(await keysOf(ports, 'ending')).toHaveLength(count)
    }
  })

  it('goes from a run that lives when the grace is over, and no sooner', async () => {
    const kit = await begun(3)
    const { ports, clock } = kit
    const maintainer = createMaintainer(ports, clock, { graceMs: 2 * DAY })
    await removalBegun(kit)
    clock.advance(DAY + HOUR)
    await maintainer.pass()
    expect(await keysOf(ports, 'ending')).toHaveLength(1)
    clock.advance(DAY + HOUR)
    await maintainer.pass()
    expect(await keysOf(ports, 'ending')).toEqual([])
    expect(await kit.rebuilt()).toMatchObject({ tail: kit.run.tail, ending: null })
  })

  it('goes with the bytes of a deleted run, and the tombstone’s own stays', async () => {
    const { archive, run, ports, clock } = await begun(3)
    await archive.remove(run.key, { force: true })
    clock.advance(HOUR)
    await createMaintainer(ports, clock).pass()
    expect(await keysOf(ports, 'ending')).toEqual([])
    expect(await keysOf(ports, 'tombstone')).toHaveLength(1)
  })
})
