import { describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, foldTag, type Head, recordsPage } from '#store'
import { objectKey } from '../../../../shared/store/keys.ts'
import { collected, joined, LIMITS, say, sha256 } from '../../../kit/stored-run.ts'
import { bare, begun, brokenOff, HOUR, KEY, rebuilt } from './kit.ts'

type Kit = Awaited<ReturnType<typeof begun>>

/** Takes the object away that holds the nth extent. @returns its place */
const lose = async ({ ports }: Kit, n: number) => {
  const { extents } = (await ports.index.head(KEY)) as Head
  const [name, extent] = Object.entries(extents)[n] as [string, Head['extents'][string]]
  await ports.objects.remove([objectKey(KEY, Number(name), extent)])
  return { start: Number(name), end: Number(name) + extent.length }
}

/** The rebuilt store's archive, and a new owner's epoch in it. */
const inherited = async ({ again, clock }: Kit) => {
  const archive = createArchive(again, { clock, limits: LIMITS })
  const { epoch, tail } = (await archive.acquire(KEY, { machine_id: 'heir', world_id: 'w' })).answer
  return {
    archive,
    append: (offset: number, bytes: Uint8Array) => archive.append(KEY, { epoch, offset, bytes }),
    tail,
  }
}

describe('a rebuild that gives back less than was acknowledged', () => {
  it('begins another life, so that no tag and no cursor of before stands for what is appended then', async () => {
    const kit = await begun(6)
    const before = await kit.archive.view(KEY)
    const page = await recordsPage(before, { limit: 5 })
    await lose(kit, 3)
    const found = await kit.rebuilt()
    expect(found?.lost).not.toBe(null)

    const { archive, append, tail } = await inherited(kit)
    for (let at = tail, n = 0; n < 3; n++) {
      const other = say(`other ${n}`)
      await append(at, other)
      at += other.length
    }
    const after = await archive.view(KEY)
    expect(after.head.frames).toBe(before.head.frames)
    expect(foldTag(after, {})).not.toBe(foldTag(before, {}))
    expect(foldTag(after, { seq: 5 })).not.toBe(foldTag(before, { seq: 5 }))
    const goOn = recordsPage(after, { limit: 5, cursor: page.next_cursor as string })
    await expect(goOn).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('gives the new life back when the index is lost again, and what was appended in it', async () => {
    const kit = await begun(5)
    const { start } = await lose(kit, 2)
    await kit.rebuilt()
    const { append } = await inherited(kit)
    let bytes = kit.run.bytes.subarray(0, start)
    for (const batch of [say('new'), say('and newer'), say('and newest of all')]) {
      await append(bytes.length, batch)
      bytes = joined(bytes, batch)
    }
    const head = (await kit.again.index.head(KEY)) as Head
    const third = bare(kit.again, kit.clock)
    const [found] = await rebuilt(third, kit.clock)
    expect(found).toMatchObject({ tail: bytes.length, lost: null, undecided: [] })
    expect(await third.index.head(KEY)).toMatchObject({ life: head.life, frames: head.frames })
    const view = await createArchive(third, { clock: kit.clock, limits: LIMITS }).view(KEY)
    expect(sha256(await collected(view.bytes(0, bytes.length)))).toBe(sha256(bytes))
  })

  it('says what is lost though it is broken off before the index has it', async () => {
    const kit = await begun(5)
    const lost = await lose(kit, 2)
    await brokenOff(kit.again, kit.rebuilt)
    expect(await kit.rebuilt()).toMatchObject({ tail: lost.start, lost: { start: lost.start } })
  })

  it('knows by a manifest of bytes whose only object is gone', async () => {
    const kit = await begun(40)
    await kit.archive.release(KEY, kit.run.epoch)
    kit.clock.advance(2 * HOUR)
    await createMaintainer(kit.ports, kit.clock).pass()
    expect(Object.keys(((await kit.ports.index.head(KEY)) as Head).extents)).toHaveLength(1)
    const lost = await lose(kit, 0)
    for (let n = 0; n < 2; n++) {
      kit.clock.advance(2 * HOUR)
      await createMaintainer(kit.ports, kit.clock).pass()
    }
    expect(await kit.rebuilt()).toMatchObject({ tail: 0, lost })
  })

  it('keeps the life of a run of which nothing is missing', async () => {
    const kit = await begun(5)
    const head = (await kit.ports.index.head(KEY)) as Head
    await kit.rebuilt()
    expect(await kit.again.index.head(KEY)).toMatchObject({ life: head.life })
  })
})
