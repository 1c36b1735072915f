import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { walkFrames } from '#codec'
import { type Archive, createArchive, createMaintainer, foldAnswer, type Head, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { manualClock } from '../../kit/manual-clock.ts'
import { plainHeader } from '../../kit/plain-header.ts'
import { frameOf, LIMITS, objectKeys, StoredRun, say, sha256 } from '../../kit/stored-run.ts'

const DAY = 86_400_000
const OWNER = { machine_id: 'm2', world_id: 'w2' }
const status = (word: string) => frameOf(`{"StatusChanged":{"status":"${word}","at":1}}`)
const header = frameOf(JSON.stringify(plainHeader()))

let clock = manualClock()
let ports: StorePorts
let archive: Archive
let source: StoredRun

beforeEach(async () => {
  clock = manualClock()
  ports = memoryPorts(clock)
  archive = createArchive(ports, { clock, limits: LIMITS })
  source = await StoredRun.begin(archive)
})

const FORK = { tenant: 'default', run_id: 'fork' }
const fork = (seq: number, more: object = {}) =>
  archive.fork(source.key, { seq, run_id: 'fork', ...OWNER, ...more })
const headOf = async (run_id = 'fork') => (await ports.index.head({ tenant: 'default', run_id })) as Head

async function countsOf(run_id: string) {
  const { tail, frames, points, unreadable, digest, headed, ticks, ended } = await headOf(run_id)
  return { tail, frames, points, unreadable, digest, headed, ticks, ended }
}

async function cardOf(run_id: string) {
  const row = await ports.index.card({ tenant: 'default', run_id })
  return { ...row?.card, run_id: undefined, workdir: row?.workdir }
}

/** The fork as its owner goes on with it. */
async function forked(seq: number, run_id = 'fork'): Promise<StoredRun> {
  const { epoch, tail } = await fork(seq, { run_id })
  const run = new StoredRun(archive, run_id, OWNER.machine_id)
  Object.assign(run, { epoch, bytes: source.bytes.slice(0, tail) })
  return run
}

async function objectsOf(run_id: string): Promise<number> {
  return (await objectKeys(ports, `runs/default/${run_id}/`)).length
}

describe('a fork', () => {
  it.each(['without snapshots', 'with snapshots'])(
    'at any seq is the first frames, and the head of one that appended just these (%s)',
    async (kind) => {
      const frames = [
        header,
        say('a'),
        frameOf('junk'),
        status('complete'),
        say('b'),
        status('running'),
        say('c'),
      ]
      for (const frame of frames) await source.append(frame)
      if (kind === 'with snapshots') {
        await archive.release(source.key, source.epoch)
        await createMaintainer(ports, clock, { snapshots: { everyBytes: 1, mergedBytes: 1 } }).pass()
        expect((await headOf('run')).snapshot).not.toBeNull()
      }
      const ends = [...walkFrames(source.bytes.subarray(6), { offset: 6 })].map(
        ({ offset, length }) => offset + length,
      )
      for (let seq = 0; seq <= frames.length; seq++) {
        const run = await forked(seq, `fork-${seq}`)
        expect(run.tail).toBe(seq === 0 ? 6 : ends[seq - 1])
        expect(await run.stored()).toEqual(run.bytes)

        const plain = await StoredRun.begin(archive, `plain-${seq}`, OWNER.machine_id)
        await plain.append(...frames.slice(0, seq))
        for (const facts of [countsOf, cardOf]) {
          expect(await facts(`fork-${seq}`)).toEqual(await facts(`plain-${seq}`))
        }

        await run.append(say('on'))
        expect(run.bytes.length).toBe((await headOf(`fork-${seq}`)).tail)
        expect((await headOf(`fork-${seq}`)).digest).toBe(sha256(run.bytes))
      }
    },
  )

  it('of a run that begins without a Header has no points either', async () => {
    const point = frameOf(
      '{"ContextCheckpoint":{"snapshot":{"stage_name":"s","total_tokens":0,"max_tokens":0,"regions":[]},"at":1}}',
    )
    await source.append(say('no Header'), point, header, point)
    expect(await fork(2)).toMatchObject({ frames: 2, points: 0 })
  })

  it('of an empty run is an empty run', async () => {
    expect(await fork(0)).toMatchObject({ tail: 0, frames: 0 })
    expect(await objectsOf('fork')).toBe(0)
    expect(await fork(0)).toMatchObject({ tail: 0, epoch: 1 })
  })

  it('folds to the state its source had', async () => {
    await source.append(header, say('a'), status('complete'), say('b'))
    await fork(3)
    const state = async (run_id: string) =>
      JSON.stringify(
        (await foldAnswer(await archive.view({ tenant: 'default', run_id }), { seq: 3 })) as object,
      )
    expect((await state('fork')).replace('"fork"', '"run"')).toBe(await state('run'))
  })

  it('and its source go on apart, whatever is merged or deleted of either', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('source', 'fork', 'twig', 'pass', 'day', 'remove'), { maxLength: 30 }),
        async (steps) => {
          clock = manualClock()
          ports = memoryPorts(clock)
          archive = createArchive(ports, { clock, limits: LIMITS })
          source = await StoredRun.begin(archive)
          for (let i = 0; i < 40; i++) await source.append(say(`${i}`))
          const maintainer = createMaintainer(ports, clock)
          const branch = await forked(30)
          const twig = new StoredRun(archive, 'twig', OWNER.machine_id)
          const { epoch, tail } = await archive.fork(branch.key, { seq: 20, run_id: 'twig', ...OWNER })
          Object.assign(twig, { epoch, bytes: branch.bytes.slice(0, tail) })
          const runs = new Map([
            ['source', source],
            ['fork', branch],
            ['twig', twig],
          ])
          for (const step of steps) {
            if (step === 'pass') await maintainer.pass()
            else if (step === 'day') clock.advance(DAY)
            else if (step === 'remove') {
              const [first] = runs.keys()
              if (runs.size > 1 && first) {
                await archive.remove((runs.get(first) as StoredRun).key, { force: true })
                runs.delete(first)
              }
            } else await runs.get(step)?.append(say(step))
            for (const run of runs.values()) expect(await run.stored()).toEqual(run.bytes)
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  it('of large extents is copied inside the storage', async () => {
    for (const size of [6 << 20, 100, 9 << 20]) await source.append(frameOf(new Uint8Array(size)))
    let travelled = 0
    const { get, compose } = ports.objects
    const copied: number[] = []
    ports.objects.compose = async (key, parts, facts) => {
      for (const part of parts) if ('copy' in part) copied.push(part.range.end - part.range.start)
      return compose(key, parts, facts)
    }
    ports.objects.get = async (key, range) => {
      const bytes = await get(key, range)
      travelled += bytes?.length ?? 0
      return bytes
    }
    await fork(3)
    expect(copied).toEqual([6 + 8 + (6 << 20), 8 + (9 << 20)])
    expect(travelled).toBe(108)
    ports.objects.get = get
    const view = await archive.view(FORK)
    const [extent] = Object.values(view.head.extents)
    expect(extent?.hash).toMatch(/^x/)
    expect(view.head.digest).toBe(sha256(source.bytes))
  })
})

describe('the same request', () => {
  beforeEach(async () => {
    for (let i = 0; i < 10; i++) await source.append(say(`${i}`))
  })

  it('by the same owner has the same answer, also long after the lease ran out', async () => {
    const first = await fork(7)
    clock.advance(DAY)
    const again = await fork(7)
    expect({ ...again, lease: null, server_time: null }).toEqual({ ...first, lease: null, server_time: null })
    expect(await objectsOf('fork')).toBe(1)
  })

  it('after the owner went on tells where the fork is now', async () => {
    const run = await forked(7)
    await run.append(say('on'))
    expect(await fork(7)).toMatchObject({ epoch: run.epoch, tail: run.tail })
  })

  it.each([
    ['by another owner', 7, { machine_id: 'other' }],
    ['of another seq', 6, {}],
    ['onto its source', 7, { run_id: 'run' }],
  ])('%s is no repetition', async (_, seq, more) => {
    await fork(7)
    await expect(fork(seq, more)).rejects.toMatchObject({ code: 'exists' })
    expect(await (await forked(7)).stored()).toHaveLength((await headOf()).tail)
  })

  it('of another life of the source is no repetition', async () => {
    await fork(7)
    await archive.remove(source.key, { force: true })
    const next = await StoredRun.begin(archive)
    for (let i = 0; i < 10; i++) await next.append(say(`${i}`))
    await expect(fork(7)).rejects.toMatchObject({ code: 'exists' })
  })

  it('after somebody took the fork over is no repetition', async () => {
    await fork(7)
    await archive.acquire(FORK, { machine_id: 'other', world_id: 'w', force: true })
    await expect(fork(7)).rejects.toMatchObject({ code: 'exists' })
  })

  it('after the fork was begun with other bytes is no repetition', async () => {
    const { compose } = ports.objects
    ports.objects.compose = async () => {
      throw new Error('the process dies')
    }
    await expect(fork(7)).rejects.toThrow('dies')
    ports.objects.compose = compose
    const { answer } = await archive.acquire(FORK, OWNER)
    const own = new StoredRun(archive, 'fork', OWNER.machine_id)
    own.epoch = answer.epoch
    for (let i = 0; i < 9; i++) await own.append(say(`mine ${i}`))
    await expect(fork(7)).rejects.toMatchObject({ code: 'exists' })
    expect(await own.stored()).toEqual(own.bytes)
  })

  it('goes on where a crash cut it off, wherever that was', async () => {
    for (const method of ['commit', 'compose'] as const) {
      for (let nth = 0; nth < 3; nth++) {
        const run_id = `crashed-${method}-${nth}`
        let calls = 0
        const port = method === 'commit' ? ports.index : ports.objects
        const whole = port[method as never] as (...args: unknown[]) => Promise<unknown>
        const dies = async (...args: unknown[]) => {
          if (calls++ === nth) throw new Error('the process dies')
          return whole(...args)
        }
        Object.assign(port, { [method]: dies })
        await fork(7, { run_id }).catch(() => {})
        Object.assign(port, { [method]: whole })
        const answer = await fork(7, { run_id })
        expect(answer).toMatchObject({
          epoch: 1,
          frames: 7,
          digest: sha256(source.bytes.slice(0, answer.tail)),
        })
      }
    }
  })

  it('twice at once makes one fork', async () => {
    const [a, b] = await Promise.all([fork(7), fork(7)])
    expect(a).toMatchObject({ epoch: 1, tail: b.tail, digest: b.digest })
    expect(Object.keys((await headOf()).extents)).toHaveLength(1)
  })
})

it('a fork stores its bytes again where a sweep came between', async () => {
  for (let i = 0; i < 10; i++) await source.append(say(`${i}`))
  const { compose } = ports.objects
  ports.objects.compose = async (...args) => {
    await compose(...args)
    ports.objects.compose = compose
    await ports.index.commit(FORK, {}, { set: { sweep: 5 } })
  }
  const run = await forked(7)
  expect(await run.stored()).toEqual(run.bytes)
  expect(Object.values((await headOf()).extents)).toMatchObject([{ sweep: 5 }])
})

it('a fork finds bytes that were merged and swept while it began', async () => {
  for (let i = 0; i < 40; i++) await source.append(say(`${i}`))
  const { commit } = ports.index
  const maintainer = createMaintainer(ports, clock)
  ports.index.commit = async (...args) => {
    ports.index.commit = commit
    const made = await commit(...args)
    await archive.release(source.key, source.epoch)
    await maintainer.pass()
    clock.advance(2 * 3_600_000)
    await maintainer.pass()
    return made
  }
  const run = await forked(35)
  expect(await run.stored()).toEqual(run.bytes)
})

it('damage is not forked under a hash that fits it', async () => {
  await source.append(say('a'), say('b'))
  for await (const { key } of ports.objects.list('runs/default/run/')) {
    const bytes = (await ports.objects.get(key)) as Uint8Array
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1
    await ports.objects.put(key, [bytes], {})
  }
  await expect(fork(2)).rejects.toMatchObject({ code: 'internal' })
})

it('what cannot be forked says why', async () => {
  await source.append(say('a'))
  await expect(fork(2)).rejects.toMatchObject({ code: 'range_not_satisfiable', facts: { tail: source.tail } })
  await expect(
    archive.fork({ tenant: 'default', run_id: 'none' }, { seq: 0, run_id: 'fork', ...OWNER }),
  ).rejects.toMatchObject({ code: 'not_found' })
  expect(await headOf()).toBeUndefined()
})
