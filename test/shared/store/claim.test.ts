import { describe, expect, it } from 'vitest'
import { encodeFrame, encodeRecord } from '#codec'
import type { RunStatus } from '#schema'
import { createArchive } from '#store'
import { memoryPorts } from '#store/memory'
import { headerRecord } from '../../kit/header-record.ts'
import { steppedClock } from '../../kit/stepped-clock.ts'
import { LIMITS, StoredRun, testArchive } from '../../kit/stored-run.ts'

const worker = (name: string) => ({ machine_id: `m-${name}`, world_id: 'w', capabilities: [] })
const frame = (record: Parameters<typeof encodeRecord>[0]) => encodeFrame(encodeRecord(record))
const header = (status: RunStatus = 'running') => frame(headerRecord({ status }))
const becomes = (status: RunStatus) => frame({ StatusChanged: { status, at: 1 } })

function claims() {
  const { archive, ports, clock } = testArchive()
  const begin = async (run_id: string, status?: RunStatus, requires: string[] = []) => {
    const run = new StoredRun(archive, run_id, 'owner')
    run.epoch = (await archive.acquire(run.key, { ...run.owner, requires })).answer.epoch
    await run.append(header(status))
    return run
  }
  const waiting = async (run_id: string, ...more: [RunStatus?, string[]?]) => {
    const run = await begin(run_id, ...more)
    clock.advance(10)
    await archive.release(run.key, run.epoch)
    return run
  }
  const claim = (name: string, more: object = {}) => archive.claim('default', { ...worker(name), ...more })
  const taken = async (name: string, more?: object) => (await claim(name, more))?.run_id
  return { archive, ports, clock, begin, waiting, claim, taken }
}

describe('a claim', () => {
  it('is answered with the lease of a run that waits, under a new epoch', async () => {
    const { archive, waiting, claim } = claims()
    const run = await waiting('a')
    const answer = await claim('x')
    expect(answer).toMatchObject({
      run_id: 'a',
      epoch: run.epoch + 1,
      tail: run.tail,
      frames: 1,
      previous: run.owner,
      lease: { machine_id: 'm-x', world_id: 'w', ttl_s: 60 },
    })
    await expect(run.append(becomes('running'))).rejects.toMatchObject({ code: 'fenced' })
    const { history } = await archive.leaseState(run.key)
    expect(history.map(({ machine_id, reason }) => [machine_id, reason])).toEqual([
      ['m-x', 'released'],
      ['owner', 'acquired'],
    ])
  })

  it('finds nothing where all is held, has ended, or is of another tenant', async () => {
    const { archive, clock, begin, waiting, taken } = claims()
    await begin('held')
    for (const status of ['complete', 'error', 'cancelled'] as const) await waiting(status, status)
    const ends = await begin('ends')
    await ends.append(becomes('complete'))
    await archive.release(ends.key, ends.epoch)
    const gone = await waiting('gone')
    await archive.remove(gone.key, { force: true })
    await archive.acquire({ tenant: 'other', run_id: 'theirs' }, { ...worker('o'), ttl_s: 5 })
    clock.advance(10_000)
    expect(await taken('x')).toBeUndefined()
  })

  it('finds a run that goes on after its end, and one that is complete_interactive', async () => {
    const { archive, begin, waiting, taken } = claims()
    const run = await begin('again', 'complete')
    await run.append(becomes('running'))
    await archive.release(run.key, run.epoch)
    await waiting('talks', 'complete_interactive')
    expect([await taken('x'), await taken('y'), await taken('z')]).toEqual(['again', 'talks', undefined])
  })

  it('takes the run that has waited longest, however it became free', async () => {
    const { clock, begin, waiting, taken } = claims()
    await begin('crashed') // its lease runs out after the others were given back
    await waiting('first')
    await waiting('second')
    clock.advance(60_000)
    await waiting('third')
    const order = [await taken('w'), await taken('x'), await taken('y'), await taken('z')]
    expect(order).toEqual(['first', 'second', 'crashed', 'third'])
  })

  it('takes a run as soon as its lease has run out, and not before', async () => {
    const { clock, begin, taken } = claims()
    await begin('a')
    clock.advance(59_999)
    expect(await taken('x')).toBeUndefined()
    clock.advance(1)
    expect(await taken('x')).toBe('a')
  })

  it('leaves a run to whom its appends have kept the lease, and is not asked about it again soon', async () => {
    const { ports, clock, begin, taken } = claims()
    const run = await begin('a')
    clock.advance(50_000)
    await run.append(becomes('running'))
    clock.advance(20_000)
    expect(await taken('x')).toBeUndefined()
    expect(await ports.index.waiting('default', clock.now(), 9)).toEqual([])
    clock.advance(40_000)
    expect(await taken('x')).toBe('a')
  })

  it('wants all that the run requires, and looks past many runs of which it is not able', async () => {
    const { waiting, taken } = claims()
    for (let n = 0; n < 70; n++) await waiting(`gpu-${n}`, 'running', ['gpu'])
    await waiting('both', 'running', ['docker', 'gpu'])
    await waiting('plain')
    expect(await taken('none')).toBe('plain')
    expect(await taken('docker', { capabilities: ['docker'] })).toBeUndefined()
    const able = { capabilities: ['gpu', 'docker'] }
    const all: (string | undefined)[] = []
    for (let n = 0; n < 72; n++) all.push(await taken(`able-${n}`, able))
    expect(all).toEqual([...Array.from({ length: 70 }, (_, n) => `gpu-${n}`), 'both', undefined])
  })

  it('of a token with a prefix takes no other runs', async () => {
    const { archive, waiting } = claims()
    await waiting('team-a.1')
    await waiting('team-b.1')
    const claim = (run_prefix: string) => archive.claim('default', worker('x'), { run_prefix })
    expect((await claim('team-b.'))?.run_id).toBe('team-b.1')
    expect(await claim('team-b.')).toBeUndefined()
  })

  it('gives a run to one of many that ask at the same time, and to each another', async () => {
    const { waiting, taken } = claims()
    const runs = Array.from({ length: 7 }, (_, n) => `run-${n}`)
    for (const run of runs) await waiting(run)
    const got = await Promise.all(Array.from({ length: 20 }, (_, n) => taken(`${n}`)))
    expect(got.filter((run) => run !== undefined).sort()).toEqual(runs)
  })

  it('gives a worker that held the run a new epoch, since another of its processes may still write', async () => {
    const { archive, clock, waiting, claim } = claims()
    await waiting('a')
    const first = await claim('x')
    clock.advance(66_000)
    const second = await claim('x')
    expect(second?.epoch).toBe((first?.epoch ?? 0) + 1)
    const late = archive.renew({ tenant: 'default', run_id: 'a' }, { epoch: first?.epoch ?? 0 })
    await expect(late).rejects.toMatchObject({ code: 'fenced' })
  })
})

describe('a run that was given back', () => {
  it('goes to the end of the queue', async () => {
    const { archive, clock, waiting, claim, taken } = claims()
    await waiting('a')
    await waiting('b')
    const { epoch } = (await claim('x')) as { epoch: number }
    clock.advance(1000)
    await archive.release({ tenant: 'default', run_id: 'a' }, epoch)
    expect([await taken('y'), await taken('z')]).toEqual(['b', 'a'])
  })

  it('is for a while handed to others only', async () => {
    const { archive, clock, waiting, claim, taken } = claims()
    await waiting('a')
    const { epoch } = (await claim('x')) as { epoch: number }
    await archive.release({ tenant: 'default', run_id: 'a' }, epoch)
    expect(await taken('x')).toBeUndefined()
    clock.advance(4999)
    expect(await taken('x')).toBeUndefined()
    clock.advance(1)
    expect(await taken('x')).toBe('a')
  })

  it('because its lease was lost is for a while handed to others only', async () => {
    const { clock, waiting, taken } = claims()
    await waiting('a')
    await taken('x')
    clock.advance(60_000)
    expect(await taken('x')).toBeUndefined()
    expect(await taken('y')).toBe('a')
  })
})

describe('a claim that waits', () => {
  const slow = async () => {
    const clock = steppedClock()
    const ports = memoryPorts(clock)
    let looks = 0
    const counted = {
      ...ports.index,
      waiting: (...args: Parameters<typeof ports.index.waiting>) => {
        looks++
        return ports.index.waiting(...args)
      },
    }
    const archive = createArchive({ ...ports, index: counted }, { clock, limits: LIMITS })
    const { answer } = await archive.acquire({ tenant: 'default', run_id: 'a' }, worker('owner'))
    const release = () => archive.release({ tenant: 'default', run_id: 'a' }, answer.epoch)
    return { clock, archive, release, looks: () => looks }
  }

  it('is answered when a run is given back', async () => {
    const { clock, archive, release } = await slow()
    const waits = archive.claim('default', { ...worker('x'), wait_s: 20 })
    await clock.advance(1500)
    await release()
    await clock.advance(1000)
    expect((await waits)?.run_id).toBe('a')
  })

  it('is answered with nothing when its time is over', async () => {
    const { clock, archive } = await slow()
    const waits = archive.claim('default', { ...worker('x'), wait_s: 3 })
    await clock.advance(3000)
    expect(await waits).toBeUndefined()
    expect(clock.sleeping).toBe(0)
  })

  it('shares its looks with all that wait, and one of them gets the run', async () => {
    const { clock, archive, release, looks } = await slow()
    const many = Array.from({ length: 50 }, (_, n) =>
      archive.claim('default', { ...worker(`${n}`), wait_s: 20 }),
    )
    await clock.advance(100)
    expect(looks()).toBe(50) // each looks at once when it comes
    await clock.advance(10_000)
    expect(looks()).toBe(60)
    await release()
    await clock.advance(20_000)
    const got = await Promise.all(many)
    expect(got.filter((answer) => answer !== undefined)).toHaveLength(1)
  })

  it('looks no further than some thousand runs while it waits, and at all of them when it comes', async () => {
    const clock = steppedClock()
    const ports = memoryPorts(clock)
    const limits: number[] = []
    const others = Array.from({ length: 5000 }, (_, n) => ({
      run: { tenant: 'default', run_id: `gpu-${n}` },
      requires: ['gpu'],
    }))
    const index = {
      ...ports.index,
      waiting: async (_tenant: string, _until: number, limit: number) => {
        limits.push(limit)
        return others.slice(0, limit)
      },
    }
    const archive = createArchive({ ...ports, index }, { clock, limits: LIMITS })
    const waits = archive.claim('default', { ...worker('x'), wait_s: 1 })
    await clock.advance(2000)
    expect(await waits).toBeUndefined()
    expect(limits).toEqual([64, 512, 4096, 32768, 64, 512, 4096])
  })

  it('takes nothing when the caller has left', async () => {
    const { clock, archive, release } = await slow()
    const leaving = new AbortController()
    const waits = archive.claim('default', { ...worker('x'), wait_s: 20 }, { signal: leaving.signal })
    await clock.advance(500)
    await release()
    leaving.abort()
    await clock.advance(1000)
    expect(await waits).toBeUndefined()
    expect((await archive.leaseState({ tenant: 'default', run_id: 'a' })).lease).toBeNull()
  })
})
