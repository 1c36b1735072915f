import { beforeEach, describe, expect, it } from 'vitest'
import { StoredRun, say, sha256 } from '../../../kit/stored-run.ts'
import { DAY, FORK, ForkKit, OWNER } from './kit.ts'

let kit: ForkKit
beforeEach(async () => {
  kit = await ForkKit.begin()
})

describe('the same request', () => {
  beforeEach(async () => {
    for (let i = 0; i < 10; i++) await kit.source.append(say(`${i}`))
  })

  it('by the same owner has the same answer, also long after the lease ran out', async () => {
    const first = await kit.fork(7)
    kit.clock.advance(DAY)
    const again = await kit.fork(7)
    expect({ ...again, lease: null, server_time: null }).toEqual({ ...first, lease: null, server_time: null })
    expect(await kit.objectsOf('fork')).toBe(1)
  })

  it('after the owner went on tells where the fork is now', async () => {
    const run = await kit.forked(7)
    await run.append(say('on'))
    expect(await kit.fork(7)).toMatchObject({ epoch: run.epoch, tail: run.tail })
  })

  it.each([
    ['by another owner', 7, { machine_id: 'other' }],
    ['of another seq', 6, {}],
    ['onto its source', 7, { run_id: 'run' }],
  ])('%s is no repetition', async (_, seq, more) => {
    await kit.fork(7)
    await expect(kit.fork(seq, more)).rejects.toMatchObject({ code: 'exists' })
    expect(await (await kit.forked(7)).stored()).toHaveLength((await kit.headOf()).tail)
  })

  it('of another life of the source is no repetition', async () => {
    await kit.fork(7)
    await kit.archive.remove(kit.source.key, { force: true })
    const next = await StoredRun.begin(kit.archive)
    for (let i = 0; i < 10; i++) await next.append(say(`${i}`))
    await expect(kit.fork(7)).rejects.toMatchObject({ code: 'exists' })
  })

  it('after somebody took the fork over is no repetition', async () => {
    await kit.fork(7)
    await kit.archive.acquire(FORK, { machine_id: 'other', world_id: 'w', force: true })
    await expect(kit.fork(7)).rejects.toMatchObject({ code: 'exists' })
  })

  it('after the fork was begun with other bytes is no repetition', async () => {
    const { compose } = kit.ports.objects
    kit.ports.objects.compose = async () => {
      throw new Error('the process dies')
    }
    await expect(kit.fork(7)).rejects.toThrow('dies')
    kit.ports.objects.compose = compose
    const { answer } = await kit.archive.acquire(FORK, OWNER)
    const own = new StoredRun(kit.archive, 'fork', OWNER.machine_id)
    own.epoch = answer.epoch
    for (let i = 0; i < 9; i++) await own.append(say(`mine ${i}`))
    await expect(kit.fork(7)).rejects.toMatchObject({ code: 'exists' })
    expect(await own.stored()).toEqual(own.bytes)
  })

  it('goes on where a crash cut it off, wherever that was', async () => {
    for (const method of ['commit', 'compose'] as const) {
      for (let nth = 0; nth < 3; nth++) {
        const run_id = `crashed-${method}-${nth}`
        let calls = 0
        const port = method === 'commit' ? kit.ports.index : kit.ports.objects
        const whole = port[method as never] as (...args: unknown[]) => Promise<unknown>
        const dies = async (...args: unknown[]) => {
          if (calls++ === nth) throw new Error('the process dies')
          return whole(...args)
        }
        Object.assign(port, { [method]: dies })
        await kit.fork(7, { run_id }).catch(() => {})
        Object.assign(port, { [method]: whole })
        const answer = await kit.fork(7, { run_id })
        expect(answer).toMatchObject({
          epoch: 1,
          frames: 7,
          digest: sha256(kit.source.bytes.slice(0, answer.tail)),
        })
      }
    }
  })

  it('twice at once makes one fork', async () => {
    const [a, b] = await Promise.all([kit.fork(7), kit.fork(7)])
    expect(a).toMatchObject({ epoch: 1, tail: b.tail, digest: b.digest })
    expect(Object.keys((await kit.headOf()).extents)).toHaveLength(1)
  })
})
