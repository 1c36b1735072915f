import { describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, type Head, type StorePorts } from '#store'
import { collected, LIMITS, say, sha256 } from '../../../kit/stored-run.ts'
import { bare, begun, HEIR, HOUR, KEY, keysOf, leave, rebuilt, WEEK } from './kit.ts'

type Kit = Awaited<ReturnType<typeof begun>>

/** Takes the nth object of the archive away. @returns puts it back, with its facts */
const lose = async ({ ports }: Kit, n: number) => {
  const { objects } = ports
  const key = (await keysOf(ports, '0'))[n] as string
  const [bytes, facts] = [await objects.get(key), await objects.facts(key)]
  await objects.remove([key])
  return async () => objects.put(key, [bytes as Uint8Array], facts ?? {})
}

/** Under an index that knows nothing. */
const rebuiltAnew = async ({ ports, clock }: Kit) => {
  const under = bare(ports, clock)
  const [found] = await rebuilt(under, clock)
  const head = (await under.index.head(KEY)) as Head
  return { under, found, head, bytes: () => bytesOf(under, clock) }
}

const bytesOf = async (ports: StorePorts, clock: Kit['clock']) => {
  const view = await createArchive(ports, { clock, limits: LIMITS }).view(KEY)
  return collected(view.bytes(0, view.head.tail))
}

describe('a rebuild after one that had to cut the run', () => {
  it('gives all back when the missing object has come back, in a life of its own', async () => {
    const kit = await begun(6)
    const giveBack = await lose(kit, 3)
    const cut = await rebuiltAnew(kit)
    expect(cut.found?.lost).not.toBe(null)
    await giveBack()
    const whole = await rebuiltAnew(kit)
    expect(whole.found).toMatchObject({ tail: kit.run.tail, lost: null, undecided: [] })
    expect(sha256(await whole.bytes())).toBe(sha256(kit.run.bytes))
    expect(whole.head.life).toBeGreaterThan(cut.head.life)
    expect(whole.head.epoch).toBeGreaterThan(cut.head.epoch)
    expect(whole.head.sweep).toBeGreaterThan(cut.head.sweep)

    const again = await rebuiltAnew(kit)
    expect(again.found).toMatchObject({ tail: kit.run.tail, lost: null })
    expect(again.head.life).toBe(whole.head.life)
  })

  it('reaches farther and is cut again where something else is missing, until that comes back, too', async () => {
    const kit = await begun(8)
    const [giveBack, giveBackLater] = [await lose(kit, 2), await lose(kit, 4)]
    const first = await rebuiltAnew(kit)
    await giveBack()
    const second = await rebuiltAnew(kit)
    expect(second.head.tail).toBeGreaterThan(first.head.tail)
    expect(second.found?.lost).toMatchObject({ start: second.head.tail })
    expect(second.head.life).toBeGreaterThan(first.head.life)
    await giveBackLater()
    const third = await rebuiltAnew(kit)
    expect(third.found).toMatchObject({ tail: kit.run.tail, lost: null })
    expect(third.head.life).toBeGreaterThan(second.head.life)
  })

  it('stays where it was, in the same life, while nothing has come back', async () => {
    const kit = await begun(6)
    await lose(kit, 3)
    const first = await rebuiltAnew(kit)
    const second = await rebuiltAnew(kit)
    expect(second.found).toMatchObject({ tail: first.found?.tail, lost: first.found?.lost })
    expect(second.head.life).toBe(first.head.life)
  })

  it('gives what was appended since, and not what has come back', async () => {
    const kit = await begun(6)
    const giveBack = await lose(kit, 3)
    const { under, head } = await rebuiltAnew(kit)
    const archive = createArchive(under, { clock: kit.clock, limits: LIMITS })
    const { epoch } = (await archive.acquire(KEY, kit.run.owner)).answer
    await archive.append(KEY, { epoch, offset: head.tail, bytes: say('acknowledged') })
    const acknowledged = await bytesOf(under, kit.clock)
    await giveBack()
    const after = await rebuiltAnew(kit)
    expect(after.head.life).toBe(head.life)
    expect(sha256(await after.bytes())).toBe(sha256(acknowledged))
  })

  it('gives what lies before another lost object, although it was stored for the life before', async () => {
    for (const isAppended of [true, false]) {
      const kit = await begun(6)
      await lose(kit, 4)
      const { under, head } = await rebuiltAnew(kit)
      if (isAppended) {
        const archive = createArchive(under, { clock: kit.clock, limits: LIMITS })
        const { epoch } = (await archive.acquire(KEY, kit.run.owner)).answer
        await archive.append(KEY, { epoch, offset: head.tail, bytes: say('later') })
      }
      await lose(kit, 2)
      const after = await rebuiltAnew(kit)
      expect(after.found?.tail).toBeGreaterThan(0)
      expect(after.found?.lost?.start).toBe(after.found?.tail)
      expect(after.found?.lost?.end).toBeGreaterThanOrEqual(head.tail + (isAppended ? 0 : 1))
      const kept = kit.run.bytes.subarray(0, after.head.tail)
      expect(sha256(await after.bytes())).toBe(sha256(kept))
    }
  })

  it('gives no run back that was deleted since', async () => {
    const kit = await begun(6)
    const giveBack = await lose(kit, 3)
    const { under } = await rebuiltAnew(kit)
    const archive = createArchive(under, { clock: kit.clock, limits: LIMITS })
    await archive.remove(KEY, { force: true })
    await giveBack()
    expect((await rebuiltAnew(kit)).found).toMatchObject({ outcome: 'deleted' })
  })

  it('knows who held the run before, although the life that was begun has been swept', async () => {
    const kit = await begun(3)
    const { run, archive } = kit
    run.epoch = (await archive.acquire(KEY, { ...HEIR, force: true })).answer.epoch
    for (let n = 0; n < 3; n++) await run.append(say(`of the heir ${n}`))
    await lose(kit, 4)
    const { under } = await rebuiltAnew(kit)
    const held = await under.index.transfers(KEY, 9)
    expect(held).toMatchObject([{ machine_id: run.owner.machine_id }])
    kit.clock.advance(WEEK + 2 * HOUR)
    await createMaintainer(under, kit.clock).pass()
    const after = await rebuiltAnew(kit)
    expect(await after.under.index.transfers(KEY, 9)).toEqual(held)
  })

  it('decides nothing by what the sweep has left of the candidates', async () => {
    const kit = await begun(1)
    await leave(kit, say('of the other'))
    await kit.run.append(say('of the one'))
    const { under, found, head } = await rebuiltAnew(kit)
    expect(found?.undecided).toHaveLength(2)
    kit.clock.advance(WEEK + 2 * HOUR)
    const { objects } = under
    const { remove } = objects
    objects.remove = async (keys) => {
      await remove.call(objects, keys.slice(0, 1))
      throw new Error('a crash')
    }
    await expect(createMaintainer(under, kit.clock).pass()).rejects.toThrow()
    objects.remove = remove
    const after = await rebuiltAnew(kit)
    expect(await keysOf(under, '0')).toHaveLength(2)
    expect(after.head).toMatchObject({ life: head.life, tail: head.tail })
  })
})
