import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText } from '#codec'
import { RunfoldError } from '#schema'
import {
  type ArchiveView,
  createMaintainer,
  type DerivedPlace,
  diffAnswer,
  foldAnswer,
  type Head,
  openView,
  pointAnswer,
  pointsPage,
  pointsStream,
  recordsPage,
  type StorePorts,
} from '#store'
import { derivedKey, objectKey, parseDerivedKey } from '../../../shared/store/keys.ts'
import { SNAPSHOT_POLICY } from '../../../shared/store/maintain/snapshot-policy.ts'
import { snapshotsOf } from '../../../shared/store/reading/snapshots.ts'
import { journal } from '../../kit/journal.ts'
import { StoredRun, testArchive } from '../../kit/stored-run.ts'

const HOUR = 3_600_000
/** Every question is asked of every journal, twice. */
const TIMEOUT_MS = 60_000
/** So small that a journal of forty frames has several. */
const TINY = { ...SNAPSHOT_POLICY, everyBytes: 400, mergedBytes: 1 }

type Answers = Record<string, () => Promise<unknown>>

/** Everything that can be asked of a run of a few frames. */
function questions(view: ArchiveView): Answers {
  const { frames, points } = view.head
  const all: Answers = {}
  const bare = ['identity', 'meta', 'context', 'pending_batch'] as const
  for (let seq = 0; seq <= frames; seq++) {
    all[`fold seq ${seq}`] = () => foldAnswer(view, { seq })
    all[`fold seq ${seq}, bare`] = () => foldAnswer(view, { seq, parts: [...bare] })
    all[`records from ${seq}`] = () => recordsPage(view, { from: seq, limit: 3 })
  }
  for (let at = -4; at <= 21; at += 3) all[`fold at ${at}`] = () => foldAnswer(view, { at })
  for (let point = 0; point < points; point++) {
    all[`fold point ${point}`] = () => foldAnswer(view, { point })
    all[`point ${point}`] = () => pointAnswer(view, point)
    all[`diff ${point}`] = () => diffAnswer(view, { from: point, to: (point * 7) % points })
  }
  for (const order of ['asc', 'desc'] as const) {
    for (const step of [1, 5]) {
      all[`points ${order} ${step}`] = () => pointsPage(view, { order, shape: 'full', step, limit: 200 })
    }
    all[`deltas ${order}`] = () => collect(pointsStream(view, { order, shape: 'delta' }))
    all[`last ${order}`] = () => pointsPage(view, { order, shape: 'delta', limit: 2, from: points - 1 })
  }
  return all
}

async function collect(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const list: unknown[] = []
  for await (const item of items) list.push(item)
  return list
}

async function answered(view: ArchiveView): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const [question, ask] of Object.entries(questions(view))) {
    answers[question] = await ask().then(jsonText, (error) => `${error.code}: ${error.message}`)
  }
  return answers
}

const snapshotKeys = async ({ objects }: StorePorts) => {
  const keys: string[] = []
  for await (const { key } of objects.list('runs/')) if (key.includes('/snapshots-')) keys.push(key)
  return keys
}

/** A run of these frames, in batches of three, and snapshots of it. */
async function snapshotted(frames: readonly Uint8Array[]) {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive)
  const maintainer = createMaintainer(kit.ports, kit.clock, { snapshots: TINY })
  const acks: Awaited<ReturnType<StoredRun['append']>>[] = []
  for (let n = 0; n < frames.length; n += 3) {
    acks.push(await run.append(...frames.slice(n, n + 3)))
    if (n % 2 === 0) await maintain(kit.ports, run, maintainer)
  }
  await maintain(kit.ports, run, maintainer)
  const head = async () => (await kit.ports.index.head(run.key)) as Head
  const bare = async () => {
    const plain = { ...(await head()), snapshot: null }
    return openView(kit.ports.objects, run.key, plain, async () => plain)
  }
  return { ...kit, run, maintainer, acks, head, bare, view: () => kit.archive.view(run.key) }
}

async function maintain(ports: StorePorts, run: StoredRun, maintainer: { pass(): Promise<void> }) {
  await ports.index.commit(run.key, {}, { set: { due_at: 0 } })
  await maintainer.pass()
}

describe('every answer', { timeout: TIMEOUT_MS }, () => {
  for (const headed of [true, false]) {
    it(`is the same with snapshots as without${headed ? '' : ', also where no Header comes first'}`, async () => {
      await fc.assert(
        fc.asyncProperty(journal({ headed }), async (frames) => {
          const kit = await snapshotted(frames)
          expect(await answered(await kit.view())).toEqual(await answered(await kit.bare()))
        }),
        { numRuns: 12 },
      )
    })
  }

  it('is the same when snapshots are gone, broken, or their index is', async () => {
    await fc.assert(
      fc.asyncProperty(journal(), fc.infiniteStream(fc.integer({ min: 0, max: 3 })), async (frames, dice) => {
        const kit = await snapshotted(frames)
        const expected = await answered(await kit.bare())
        for (const key of await snapshotKeys(kit.ports)) {
          const bytes = (await kit.ports.objects.get(key)) as Uint8Array
          const fate = dice.next().value
          if (fate === 0) await kit.ports.objects.remove([key])
          if (fate === 1) await kit.ports.objects.put(key, [bytes.subarray(0, bytes.length >> 1)], {})
          if (fate === 2) {
            bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
            await kit.ports.objects.put(key, [bytes], {})
          }
        }
        expect(await answered(await kit.view())).toEqual(expected)
      }),
      { numRuns: 12 },
    )
  })
})

it('an index that holds what another run should is as if there were none', async () => {
  const [kit, other] = [
    await snapshotted(sample()),
    await snapshotted(fc.sample(journal(), { seed: 8, numRuns: 1 }).flat()),
  ]
  const [mine, foreign] = await Promise.all([kit.head(), other.head()])
  const bytes = (await other.ports.objects.get(
    derivedKey(other.run.key, foreign.snapshot as DerivedPlace),
  )) as Uint8Array
  await kit.ports.objects.put(derivedKey(kit.run.key, mine.snapshot as DerivedPlace), [bytes], {})
  const view = await kit.view()
  expect((await snapshotsOf(view)).entries).toEqual([])
  expect(await answered(view)).toEqual(await answered(await kit.bare()))
})

const sample = () => fc.sample(journal(), { seed: 7, numRuns: 1 }).flat()
const long = () => fc.sample(journal(), { seed: 11, numRuns: 8 }).flat()

it('a batch of any age is answered as it was at first', async () => {
  const kit = await snapshotted(long())
  expect((await kit.head()).snapshot).not.toBeNull()
  for (const ack of kit.acks) {
    const { offset, tail, frames, points, digest, unreadable_frames } = ack
    const again = await kit.run.send({ offset, bytes: kit.run.bytes.slice(offset, tail) })
    expect(again).toMatchObject({ tail, frames, points, digest, unreadable_frames, replayed: true })
  }
})

it('snapshots of an earlier life are not used by the next one', async () => {
  const kit = await snapshotted(long())
  const old = await kit.head()
  await kit.archive.remove(kit.run.key, { force: true })
  const run = await StoredRun.begin(kit.archive)
  for (const frame of sample()) await run.append(frame)
  const head = (await kit.ports.index.head(run.key)) as Head
  expect(head.snapshot).toBeNull()
  const expected = await answered(await kit.archive.view(run.key))
  // Not even where a head should come to name one.
  const stale = { ...head, snapshot: old.snapshot }
  const view = openView(kit.ports.objects, run.key, stale, async () => stale)
  expect(await answered(view)).toEqual(expected)
})

it('what lies before damage keeps its snapshots, and maintenance goes on', async () => {
  const kit = await snapshotted(sample())
  const { snapshot, tail, extents } = await kit.head()
  const [start, last] = Object.entries(extents).at(-1) as [string, Head['extents'][string]]
  const lost = objectKey(kit.run.key, Number(start), last)
  await kit.run.append(...long())
  await kit.ports.objects.remove([lost])
  const [, more] = Object.entries((await kit.head()).extents).at(-1) as [string, Head['extents'][string]]
  expect(more.length).toBeGreaterThan(TINY.everyBytes)
  await kit.ports.index.commit(kit.run.key, {}, { set: { snapshot: null } })
  await maintain(kit.ports, kit.run, kit.maintainer)
  const { snapshot: found } = await kit.head()
  expect(snapshot?.offset).toBe(tail)
  expect(found?.offset).toBeGreaterThan(0)
  expect(found?.offset).toBeLessThanOrEqual(Number(start))
})

/** Ports of which every write goes wrong as the dice say: not done, or done and nobody is told. */
function unreliable(ports: StorePorts, roll: () => number): StorePorts {
  const { objects, index } = ports
  const fails =
    <Args extends unknown[], T>(write: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      const fate = roll()
      const error = new RunfoldError('unavailable', 'the storage does not answer', { retry_after_s: 1 })
      if (fate === 0) throw error
      const done = await write(...args)
      if (fate === 1) throw error
      return done
    }
  return {
    ...ports,
    objects: {
      ...objects,
      put: fails(objects.put),
      compose: fails(objects.compose),
      remove: fails(objects.remove),
    },
    index: { ...index, commit: fails(index.commit) },
  }
}

it(
  'a failure anywhere, two at work at once, and appends between leave right answers and no litter',
  async () => {
    await fc.assert(
      fc.asyncProperty(journal(), fc.infiniteStream(fc.integer({ min: 0, max: 7 })), async (frames, dice) => {
        const kit = await snapshotted(frames.slice(0, frames.length >> 1))
        const shaky = unreliable(kit.ports, () => dice.next().value as number)
        const policies = { snapshots: TINY, graceMs: 1000 }
        const [one, other] = [shaky, shaky].map((ports) => createMaintainer(ports, kit.clock, policies))
        for (const frame of frames.slice(frames.length >> 1)) {
          await kit.ports.index.commit(kit.run.key, {}, { set: { due_at: 0 } })
          await Promise.allSettled([one?.pass(), other?.pass(), kit.run.append(frame)])
          kit.clock.advance(600)
        }
        const sound = createMaintainer(kit.ports, kit.clock, policies)
        for (let n = 0; n < 3; n++) {
          kit.clock.advance(HOUR)
          await maintain(kit.ports, kit.run, sound)
        }
        const view = await kit.view()
        expect(await answered(view)).toEqual(await answered(await kit.bare()))
        const { entries } = await snapshotsOf(view)
        const named = entries.map(({ object }) => derivedKey(kit.run.key, object))
        const index = view.head.snapshot ? [derivedKey(kit.run.key, view.head.snapshot)] : []
        expect(await snapshotKeys(kit.ports)).toEqual([...new Set([...index, ...named])].sort())
      }),
      { numRuns: 10 },
    )
  },
  TIMEOUT_MS,
)

describe('the sweep', () => {
  it('keeps what the index names and takes older indexes away when their grace is over', async () => {
    const kit = await snapshotted(long())
    const keysOf = async (isIndex: boolean) =>
      (await snapshotKeys(kit.ports)).filter(
        (key) => (parseDerivedKey(kit.run.key, key)?.stateBytes === 0) === isIndex,
      )
    const indexes = () => keysOf(true)
    expect((await indexes()).length).toBeGreaterThan(1)
    const before = await answered(await kit.view())
    const named = await keysOf(false)
    await kit.archive.release(kit.run.key, kit.run.epoch)
    for (let n = 0; n < 3; n++) {
      kit.clock.advance(HOUR)
      await maintain(kit.ports, kit.run, kit.maintainer)
    }
    expect(await indexes()).toEqual([derivedKey(kit.run.key, (await kit.head()).snapshot as DerivedPlace)])
    expect((await keysOf(false)).slice(0, named.length)).toEqual(named)
    expect(await answered(await kit.view())).toEqual(before)
  })

  it('leaves nothing of a deleted run', async () => {
    const kit = await snapshotted(long())
    await kit.archive.remove(kit.run.key, { force: true })
    kit.clock.advance(HOUR)
    await maintain(kit.ports, kit.run, kit.maintainer)
    expect(await snapshotKeys(kit.ports)).toEqual([])
  })
})
