import { describe, expect, it } from 'vitest'
import { createMaintainer, type Head } from '#store'
import { objectKey } from '../../../../shared/store/keys.ts'
import { objectKeys, say, sha256 } from '../../../kit/stored-run.ts'
import { begun, HOUR, KEY, leave, WEEK } from './kit.ts'

describe('a rebuild, at the end of an archive,', () => {
  it('keeps the last batch, which nothing after it proves', async () => {
    const { run, rebuilt } = await begun(3)
    expect(await rebuilt()).toMatchObject({ tail: run.tail, undecided: [], lost: null })
  })

  it('keeps aside what two wrote with one epoch for one place, and says so', async () => {
    const kit = await begun(3)
    const { run, clock, again } = kit
    const certain = run.tail
    const lost = await leave(kit, say('of the other'))
    await run.append(say('of the one'))
    const found = await kit.rebuilt()
    expect(found?.tail).toBe(certain)
    expect(found?.undecided).toHaveLength(2)
    expect(found?.undecided).toContain(lost)
    clock.advance(WEEK - HOUR)
    await createMaintainer(again, clock).pass()
    expect(await objectKeys(again)).toEqual(expect.arrayContaining([...(found?.undecided ?? [])]))
  })

  it('takes the longer of two where one is the beginning of the other', async () => {
    const kit = await begun(3)
    const { run } = kit
    await leave(kit, say('first'))
    await run.append(say('first'), say('second'))
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, undecided: [] })
  })

  it('believes the newer owner, who saw the tail before it wrote', async () => {
    const kit = await begun(3)
    const { run, archive } = kit
    await leave(kit, say('of the old owner, and longer than that of the new'))
    run.epoch = (
      await archive.acquire(run.key, { machine_id: 'heir', world_id: 'w', force: true })
    ).answer.epoch
    await run.append(say('of the heir'))
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, undecided: [] })
  })

  it('takes no upload that was refused, for its frames or for its digest', async () => {
    const kit = await begun(2)
    const { run } = kit
    await leave(kit, say('x').subarray(0, 20))
    await leave(kit, say('not as announced'), { sha256: sha256(say('other')) })
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, undecided: [] })
  })

  it('stops before archive bytes that are gone, and says which', async () => {
    const kit = await begun(5)
    const { run, ports } = kit
    const [, , third] = Object.entries(((await ports.index.head(run.key)) as Head).extents)
    const [name, extent] = third as NonNullable<typeof third>
    await ports.objects.remove([objectKey(KEY, Number(name), extent)])
    const last = Object.keys(((await ports.index.head(run.key)) as Head).extents).at(-1)
    expect(await kit.rebuilt()).toMatchObject({
      tail: Number(name),
      lost: { start: Number(name), end: Number(last) },
    })
  })
})
