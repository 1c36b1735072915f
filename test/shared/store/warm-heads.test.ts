import { describe, expect, it } from 'vitest'
import { isRunfoldError } from '#schema'
import { createArchive, createMaintainer, type Head } from '#store'
import { LIMITS, StoredRun, say, testArchive } from '../../kit/stored-run.ts'

// A process goes on from the heads it has left, and is corrected by the commit where somebody else has changed them.

async function begun() {
  const kit = testArchive()
  const seen = { heads: 0 }
  const { head } = kit.ports.index
  kit.ports.index.head = (run) => {
    seen.heads++
    return head(run)
  }
  const run = await StoredRun.begin(kit.archive)
  await run.append(say('first'))
  seen.heads = 0
  /** Another process on the same store. */
  const other = createArchive(kit.ports, { clock: kit.clock, limits: LIMITS })
  const stored = async () => (await head(run.key)) as Head
  const code = async (sent: Promise<unknown>) =>
    sent.then(
      () => 'stored',
      (error: unknown) => (isRunfoldError(error) ? error.code : String(error)),
    )
  const send = (text: string) => code(run.send({ offset: run.tail, bytes: say(text) }))
  return { ...kit, run, seen, other, stored, send }
}

describe('the next append of a process', () => {
  it('reads no head, and one out of turn does', async () => {
    const { run, seen } = await begun()
    for (const text of ['a', 'b', 'c']) await run.append(say(text))
    expect(seen.heads).toBe(0)
    const first = run.bytes.subarray(0, 6)
    expect((await run.send({ offset: 0, bytes: first })).replayed).toBe(true)
    expect(seen.heads).toBe(1)
  })

  it('is answered as by a process that knows nothing', async () => {
    const { run, other } = await begun()
    const sent = { offset: run.tail, epoch: run.epoch, bytes: say('x') }
    const answer = await run.append(sent.bytes)
    const { replayed, ...again } = await other.append(run.key, sent)
    expect(replayed).toBe(true)
    expect(answer).toEqual({ ...again, replayed: false })
  })

  it('is fenced when another process has given the run away', async () => {
    const { run, other, send, stored } = await begun()
    await other.acquire(run.key, { machine_id: 'thief', world_id: 'w', force: true })
    expect(await send('late')).toBe('fenced')
    expect((await stored()).tail).toBe(run.tail)
  })

  it('is fenced when the run was released, and when it was deleted and made again', async () => {
    const { run, other, send } = await begun()
    await other.release(run.key, run.epoch)
    expect(await send('late')).toBe('fenced')
    const second = await begun()
    await second.other.remove(second.run.key, { force: true })
    expect(await second.send('late')).toBe('not_found')
    const third = await begun()
    await third.other.remove(third.run.key, { force: true })
    await third.other.acquire(third.run.key, { machine_id: 'heir', world_id: 'w' })
    expect(await third.send('late')).toBe('fenced')
  })

  it('keeps what another process has renewed, and what one has appended', async () => {
    const { run, other, stored } = await begun()
    const { lease } = await other.renew(run.key, { epoch: run.epoch, ttl_s: 3600 })
    await run.append(say('a'))
    expect(new Date((await stored()).lease?.expires_at ?? 0).toISOString()).toBe(lease.expires_at)
    const bytes = say('b')
    await other.append(run.key, { offset: run.tail, epoch: run.epoch, bytes })
    expect((await run.send({ offset: run.tail, bytes })).replayed).toBe(true)
    expect((await stored()).tail).toBe(run.tail + bytes.length)
  })

  it('stores its bytes again where a sweep came between', async () => {
    const { run, ports, stored } = await begun()
    await ports.index.commit(run.key, {}, { set: { sweep: 7 } })
    await run.append(say('a'))
    expect(Object.values((await stored()).extents).map(({ sweep }) => sweep)).toEqual([0, 7])
  })

  it('finds merges due however many it made from memory', async () => {
    const { run, ports, clock, stored, seen } = await begun()
    const maintainer = createMaintainer(ports, clock)
    for (let n = 0; n < 500; n++) {
      await run.append(say(`${n}`))
      if (n % 10 === 0) await maintainer.pass()
    }
    expect(Object.keys((await stored()).extents).length).toBeLessThan(50)
    expect(seen.heads).toBeLessThan(250)
  })
})
