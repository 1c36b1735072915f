import { describe, expect, it } from 'vitest'
import { StoredRun, say, testArchive } from '../../kit/stored-run.ts'

const key = { tenant: 'default', run_id: 'run' }
const worker = (name: string) => ({ machine_id: `m-${name}`, world_id: `w-${name}` })

describe('a lease', () => {
  it('makes the run, and is answered again to the same worker', async () => {
    const { archive, clock } = testArchive()
    const { created, answer } = await archive.acquire(key, { ...worker('a'), ttl_s: 30 })
    expect(created).toBe(true)
    expect(answer).toMatchObject({ run_id: 'run', epoch: 1, previous: null, tail: 0, frames: 0, points: 0 })
    expect(answer.lease).toEqual({
      ...worker('a'),
      ttl_s: 30,
      expires_at: new Date(clock.now() + 30_000).toISOString(),
    })
    clock.advance(1000)
    const again = await archive.acquire(key, worker('a'))
    expect(again).toMatchObject({
      created: false,
      answer: { epoch: 1, previous: null, lease: { ttl_s: 30 } },
    })
    expect((await archive.leaseState(key)).history).toHaveLength(1)
  })

  it('of the same worker lives on after it expired, with force too', async () => {
    const { archive, clock } = testArchive()
    await archive.acquire(key, worker('a'))
    clock.advance(999_000)
    for (const force of [false, true]) {
      const { answer } = await archive.acquire(key, { ...worker('a'), force })
      expect(answer.epoch).toBe(1)
      expect(Date.parse(answer.lease.expires_at)).toBe(clock.now() + 60_000)
    }
  })

  it('held by another is refused with who and how long', async () => {
    const { archive, clock } = testArchive()
    const { answer } = await archive.acquire(key, worker('a'))
    clock.advance(59_500)
    const refusal = { code: 'lease_held', facts: { lease: answer.lease, epoch: 1, retry_after_s: 1 } }
    await expect(archive.acquire(key, worker('b'))).rejects.toMatchObject(refusal)
    const sameMachine = { ...worker('a'), world_id: 'other' }
    await expect(archive.acquire(key, sameMachine)).rejects.toMatchObject(refusal)
  })

  it('goes over with a higher epoch, and the history says how', async () => {
    const { archive, clock } = testArchive()
    await archive.acquire(key, worker('a'))
    clock.advance(60_000)
    const b = await archive.acquire(key, worker('b'))
    expect(b.answer).toMatchObject({ epoch: 2, previous: worker('a') })
    await archive.release(key, 2)
    const again = await archive.acquire(key, worker('b'))
    expect(again.answer).toMatchObject({ epoch: 3, previous: worker('b') })
    const c = await archive.acquire(key, { ...worker('c'), force: true })
    expect(c.answer).toMatchObject({ epoch: 4, previous: worker('b') })
    const { epoch, lease, history } = await archive.leaseState(key)
    expect({ epoch, lease }).toEqual({ epoch: 4, lease: c.answer.lease })
    expect(history.map((one) => [one.epoch, one.machine_id, one.reason])).toEqual([
      [4, 'm-c', 'forced'],
      [3, 'm-b', 'released'],
      [2, 'm-b', 'expired'],
      [1, 'm-a', 'acquired'],
    ])
  })

  it('is renewed and released by its epoch alone', async () => {
    const { archive, clock } = testArchive()
    await archive.acquire(key, worker('a'))
    clock.advance(10_000)
    const renewed = await archive.renew(key, { epoch: 1, ttl_s: 300 })
    expect(renewed.lease).toMatchObject({
      ttl_s: 300,
      expires_at: new Date(clock.now() + 300_000).toISOString(),
    })
    expect((await archive.renew(key, { epoch: 1 })).lease.ttl_s).toBe(300)
    for (const epoch of [0, 2]) {
      await expect(archive.renew(key, { epoch })).rejects.toMatchObject({
        code: 'fenced',
        facts: { epoch: 1, lease: renewed.lease },
      })
      await expect(archive.release(key, epoch)).rejects.toMatchObject({ code: 'fenced' })
    }
    await archive.release(key, 1)
    await archive.release(key, 1) // its answer may have been lost
    expect(await archive.leaseState(key)).toMatchObject({ epoch: 1, lease: null })
    await expect(archive.renew(key, { epoch: 1 })).rejects.toMatchObject({
      code: 'fenced',
      facts: { lease: null },
    })
  })

  it('that is waited for is given as soon as it is free', async () => {
    const { archive, clock } = testArchive()
    await archive.acquire(key, { ...worker('a'), ttl_s: 5 })
    const start = clock.now()
    const { answer } = await archive.acquire(key, { ...worker('b'), wait_s: 20 })
    expect(answer.epoch).toBe(2)
    expect(clock.now() - start).toBeLessThan(5200)
    await expect(archive.acquire(key, { ...worker('c'), wait_s: 2 })).rejects.toMatchObject({
      code: 'lease_held',
    })
    expect(clock.now() - start).toBeLessThan(7400)
  })

  it('is waited for no longer than the caller stays', async () => {
    const { archive, clock } = testArchive()
    await archive.acquire(key, worker('a'))
    const start = clock.now()
    const gone = AbortSignal.abort()
    await expect(
      archive.acquire(key, { ...worker('b'), wait_s: 20 }, { signal: gone }),
    ).rejects.toMatchObject({ code: 'lease_held' })
    expect(clock.now()).toBe(start)
  })

  it('is not given to who left while waiting, even if it comes free just then', async () => {
    const leaving = new AbortController()
    const { archive, clock } = testArchive()
    await archive.acquire(key, worker('a'))
    const sleep = clock.sleep
    clock.sleep = async (ms, signal) => {
      await archive.release(key, 1)
      leaving.abort()
      await sleep(ms, signal)
    }
    await expect(
      archive.acquire(key, { ...worker('b'), wait_s: 20 }, { signal: leaving.signal }),
    ).rejects.toMatchObject({ code: 'lease_held' })
    expect((await archive.leaseState(key)).lease).toBeNull()
  })

  it('is given once of many that ask at the same time', async () => {
    const { archive } = testArchive()
    const asked = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => archive.acquire(key, worker(`${i}`))),
    )
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const forced = await Promise.all(
      Array.from({ length: 20 }, (_, i) => archive.acquire(key, { ...worker(`f${i}`), force: true })),
    )
    expect(new Set(forced.map(({ answer }) => answer.epoch)).size).toBe(20)
  })

  it('keeps a bounded history of the present life', async () => {
    const { archive } = testArchive()
    for (let i = 0; i < 120; i++) await archive.acquire(key, { ...worker(`${i}`), force: true })
    const { history } = await archive.leaseState(key)
    expect(history.map(({ epoch }) => epoch)).toEqual(Array.from({ length: 100 }, (_, i) => 120 - i))
    await archive.remove(key, { force: true })
    await archive.acquire(key, worker('new'))
    expect((await archive.leaseState(key)).history).toMatchObject([{ epoch: 122, reason: 'acquired' }])
  })

  it('keeps what the run requires until another asks for other things', async () => {
    const { archive, ports } = testArchive()
    const required = async () => (await ports.index.head(key))?.requires
    await archive.acquire(key, { ...worker('a'), requires: ['gpu'] })
    await archive.acquire(key, worker('a'))
    expect(await required()).toEqual(['gpu'])
    await archive.acquire(key, { ...worker('b'), force: true, requires: [] })
    expect(await required()).toEqual([])
  })
})

describe('a deleted run', () => {
  it('is gone for every read, and comes back as another with higher epochs', async () => {
    const { archive, ports } = testArchive()
    const run = await StoredRun.begin(archive)
    await run.append(say('old'))
    await expect(archive.remove(key, { force: false })).rejects.toMatchObject({ code: 'lease_held' })
    await archive.remove(key, { force: true })
    const gone = { code: 'not_found' }
    for (const read of [
      archive.view(key),
      archive.run(key),
      archive.leaseState(key),
      archive.release(key, 1),
      run.send({}),
    ]) {
      await expect(read).rejects.toMatchObject(gone)
    }
    await expect(archive.remove(key, { force: true })).rejects.toMatchObject(gone)
    expect(await ports.index.cards('default', { order: 'asc', limit: 9 })).toEqual([])

    const again = await archive.acquire(key, run.owner)
    expect(again).toMatchObject({ created: true, answer: { tail: 0, previous: null } })
    expect(again.answer.epoch).toBeGreaterThan(run.epoch)
    await expect(run.send({})).rejects.toMatchObject({ code: 'fenced' })
    expect((await ports.index.head(key))?.life).toBe(again.answer.epoch)
  })

  it('may go without force once nobody holds it', async () => {
    const { archive, clock } = testArchive()
    await StoredRun.begin(archive)
    clock.advance(60_000)
    await archive.remove(key, { force: false })
    await expect(archive.run(key)).rejects.toMatchObject({ code: 'not_found' })
  })
})
