import { beforeEach, describe, expect, it } from 'vitest'
import { walkFrames } from '#codec'
import { RunfoldError } from '#schema'
import {
  type Archive,
  boundaryAt,
  createArchive,
  createMaintainer,
  type FrameItem,
  type StorePorts,
} from '#store'
import { memoryPorts } from '#store/memory'
import { type SteppedClock, steppedClock } from '../../kit/stepped-clock.ts'
import { frameOf, LIMITS, StoredRun, say } from '../../kit/stored-run.ts'

let clock: SteppedClock
let ports: StorePorts
let archive: Archive
let run: StoredRun
let headReads = 0
let objectReads = 0

beforeEach(async () => {
  clock = steppedClock()
  const kept = memoryPorts(clock)
  ports = {
    ...kept,
    index: {
      ...kept.index,
      head: (key) => {
        headReads++
        return kept.index.head(key)
      },
    },
    objects: {
      ...kept.objects,
      get: (...asked) => {
        objectReads++
        return kept.objects.get(...asked)
      },
    },
  }
  archive = createArchive(ports, { clock, limits: LIMITS })
  run = await StoredRun.begin(archive)
  headReads = objectReads = 0
})

/** Follows from an offset and gathers what comes; it runs by itself as far as the clock lets it. */
async function follower(offset: number) {
  const view = await archive.view(run.key)
  const from = await boundaryAt(view, offset)
  if (!from) throw new Error('no boundary')
  const items: FrameItem[] = []
  let quiet = 0
  const ended = (async () => {
    for await (const some of archive.follow(view, from)) {
      items.push(...some)
      if (some.length === 0) quiet++
    }
  })()
  ended.catch(() => {})
  return { items, seqs: () => items.map(({ seq }) => seq), quiet: () => quiet, ended }
}

describe('a follower', () => {
  it('sees what is there, then what comes, each once', async () => {
    await run.append(say('a'), say('b'))
    const { seqs, items } = await follower(0)
    await clock.advance(0)
    expect(seqs()).toEqual([0, 1])
    await run.append(say('c'))
    await run.append(frameOf('not json'), say('d'))
    await clock.advance(500)
    expect(seqs()).toEqual([0, 1, 2, 3, 4])
    expect(items.at(-1)).toMatchObject({ offset: run.tail - say('d').length, kind: 'Message' })
    expect(items[3]).toMatchObject({ kind: null, unreadable: 'not_json' })
    await clock.advance(60_000)
    expect(seqs()).toHaveLength(5)
  })

  it('of a run without a byte begins with its first frame', async () => {
    const { seqs, quiet } = await follower(0)
    await clock.advance(1000)
    expect(quiet()).toBe(2)
    await run.append()
    await clock.advance(1000)
    expect(seqs()).toEqual([])
    await run.append(say('first'))
    await clock.advance(1000)
    expect(seqs()).toEqual([0])
  })

  it('loses and repeats nothing over merges', async () => {
    const { seqs } = await follower(0)
    const maintainer = createMaintainer(ports, clock)
    for (let i = 0; i < 100; i++) {
      await run.append(say(`${i}`))
      if (i % 10 === 9) await clock.advance(500)
      if (i % 25 === 24) await maintainer.pass()
    }
    await clock.advance(500)
    expect(seqs()).toEqual(Array.from({ length: 100 }, (_, i) => i))
  })

  it('ends with the life of its run, also when another begins at once', async () => {
    await run.append(say('a'))
    const { ended, seqs } = await follower(0)
    await clock.advance(500)
    await archive.remove(run.key, { force: true })
    await (await StoredRun.begin(archive)).append(say('another life'), say('more of it'))
    await clock.advance(500)
    await expect(ended).resolves.toBeUndefined()
    expect(seqs()).toEqual([0])
  })

  it('outlasts a storage that is away for a while', async () => {
    const { ended, seqs, quiet } = await follower(0)
    const { head } = ports.index
    ports.index.head = async () => {
      throw new RunfoldError('unavailable', 'away')
    }
    await clock.advance(5000)
    expect(quiet()).toBe(10)
    ports.index.head = head
    await run.append(say('back'))
    await clock.advance(500)
    expect(seqs()).toEqual([0])
    await archive.remove(run.key, { force: true })
    await clock.advance(500)
    await ended
  })

  it('is told of a failure that does not pass', async () => {
    const { ended } = await follower(0)
    ports.index.head = async () => {
      throw new RunfoldError('internal', 'broken')
    }
    await clock.advance(500)
    await expect(ended).rejects.toMatchObject({ code: 'internal' })
  })
})

it('a thousand followers of a run cost two looks a second and one read of what is new', async () => {
  await run.append(say('a'))
  const followers = await Promise.all(Array.from({ length: 1000 }, () => follower(run.tail)))
  headReads = objectReads = 0
  await clock.advance(10_000)
  expect(headReads).toBe(20)
  expect(objectReads).toBe(0)
  await run.append(say('b'), say('c'))
  headReads = 0
  await clock.advance(1000)
  expect(headReads).toBe(2)
  expect(objectReads).toBe(1)
  for (const { seqs } of followers) expect(seqs()).toEqual([1, 2])
})

it('followers of a run share one copy of a frame of megabytes, and one that is alone gathers nothing', async () => {
  const many = await Promise.all(Array.from({ length: 20 }, () => follower(0)))
  await run.append(say('x'.repeat(3 << 20)), say('last'))
  await clock.advance(1000)
  expect(objectReads).toBe(1)
  const buffers = new Set(many.map(({ items }) => items[0]?.record?.bytes.buffer))
  expect(buffers.size).toBe(1)
  for (const { seqs } of many) expect(seqs()).toEqual([0, 1])

  const other = await StoredRun.begin(archive, 'other')
  const view = await archive.view(other.key)
  const batches = archive.follow(view, { seq: 0, offset: 6 })
  const next = batches.next()
  await other.append(...Array.from({ length: 50 }, () => say('x'.repeat(20_000))))
  await clock.advance(1000)
  const { value } = await next
  expect(value?.length).toBeGreaterThan(0)
  expect(value?.length).toBeLessThan(10)
  await batches.return(undefined)
})

it('who waits for the next look shares it, and is told of growth and of the end', async () => {
  const view = await archive.view(run.key)
  await follower(0)
  headReads = 0
  const [first, second] = [archive.next(view), archive.next(view)]
  await clock.advance(500)
  expect(headReads).toBe(1)
  expect(await second).toBe(view)
  expect(await first).toBe(view)
  const grown = archive.next(view)
  await run.append(say('a'))
  await clock.advance(500)
  expect((await grown).head.tail).toBe(run.tail)
  const gone = archive.next(view)
  await archive.remove(run.key, { force: true })
  await Promise.all([expect(gone).rejects.toMatchObject({ code: 'not_found' }), clock.advance(500)])
})

it('looks at no run that nobody follows any more', async () => {
  const view = await archive.view(run.key)
  const batches = archive.follow(view, { seq: 0, offset: 6 })
  const first = batches.next()
  await clock.advance(500)
  await first
  await batches.return(undefined)
  headReads = 0
  await clock.advance(60_000)
  expect(headReads).toBe(0)
  expect(clock.sleeping).toBe(0)
})

it('reads nothing ahead of a reader who takes nothing', async () => {
  const frames = Array.from({ length: 10 }, () => frameOf(new Uint8Array(1 << 20)))
  for (let i = 0; i < 3; i++) await run.append(...frames)
  const batches = archive.follow(await archive.view(run.key), { seq: 0, offset: 6 })
  await batches.next()
  await clock.advance(60_000)
  expect(objectReads).toBeLessThanOrEqual(3) // of 9
  await batches.return(undefined)
})

describe('a boundary', () => {
  it('is every place between two frames, and no other', async () => {
    for (let i = 0; i < 5; i++)
      await run.append(say('a'.repeat(i)), frameOf(say('frames in a frame')), say('b'))
    const view = await archive.view(run.key)
    const ends = [...walkFrames(run.bytes.subarray(6), { offset: 6 })].map(
      ({ offset, length }) => offset + length,
    )
    const seqs = new Map([[0, 0], [6, 0], ...ends.map((end, n): [number, number] => [end, n + 1])])
    for (let offset = 0; offset <= run.tail + 10; offset++) {
      expect((await boundaryAt(view, offset))?.seq, `offset ${offset}`).toBe(seqs.get(offset))
    }
  })

  it.each([0, 1, 2, 3])(
    'near the end of a long archive costs no read of its beginning (%i frames before it)',
    async (back) => {
      for (let i = 0; i < 4; i++) await run.append(frameOf(new Uint8Array(3 << 20)))
      const ends: number[] = []
      for (let i = 0; i < 4; i++) {
        await run.append(say(`${i}`))
        ends.push(run.tail)
      }
      objectReads = 0
      const offset = ends[3 - back] as number
      expect(await boundaryAt(await archive.view(run.key), offset)).toEqual({ seq: 8 - back, offset })
      expect(objectReads).toBeLessThanOrEqual(1 + back)
    },
  )

  it('in the middle of a long archive is counted from the snapshot before it', async () => {
    const ends: number[] = []
    for (let i = 0; i < 16; i++) {
      await run.append(frameOf(new Uint8Array(1 << 20)))
      ends.push(run.tail)
    }
    await archive.release(run.key, run.epoch)
    await createMaintainer(ports, clock).pass()
    let bytesRead = 0
    const { get } = ports.objects
    ports.objects.get = async (...asked) => {
      const bytes = await get(...asked)
      bytesRead += bytes?.length ?? 0
      return bytes
    }
    const offset = ends[8] as number
    expect(await boundaryAt(await archive.view(run.key), offset)).toEqual({ seq: 9, offset })
    expect(await boundaryAt(await archive.view(run.key), offset - 1)).toBeUndefined()
    expect(bytesRead).toBeLessThan(6 << 20)
  })
})
