import { describe, expect, it, vi } from 'vitest'
import { encodeFrame, jsonText } from '#codec'
import {
  type ArchiveView,
  createMaintainer,
  foldAnswer,
  type Head,
  type Objects,
  openView,
  type StorePorts,
} from '#store'
import { SNAPSHOT_POLICY, type SnapshotPolicy } from '../../../shared/store/maintain/snapshot-policy.ts'
import { snapshotsOf } from '../../../shared/store/reading/snapshots.ts'
import { plainHeader } from '../../kit/plain-header.ts'
import { StoredRun, say, testArchive } from '../../kit/stored-run.ts'

// What maintenance may hold of a large frame, told by what it stores and asks for: lists and states over a bound stay in
// the archive, and whoever wants them reads them there.

vi.setConfig({ testTimeout: 60_000 })

const MiB = 1024 * 1024
const TINY = { everyBytes: 400, mergedBytes: 1, stateBytes: 16 * MiB }

const record = (value: unknown) => encodeFrame(new TextEncoder().encode(JSON.stringify(value)))

const header = record(plainHeader())

const regionOf = (name: string, bytes: number) => {
  const entry = { content: 'x'.repeat(bytes), tokens: 1, kind: { type: 'Text' }, taint: 'Internal' }
  return { name, kind: 'k', current_tokens: 1, max_tokens: 9, entries: [entry] }
}
const TOTALS = { stage_name: 's', total_tokens: 1, max_tokens: 9 }

/** The whole window, one entry of so many bytes. */
const window = (bytes: number, at: number) =>
  record({ ContextCheckpoint: { snapshot: { ...TOTALS, regions: [regionOf('r', bytes)] }, at } })
/** One region of several, the others stay. */
const region = (name: string, bytes: number) =>
  record({ ContextDiff: { delta: { ...TOTALS, regions: [{ Set: regionOf(name, bytes) }] }, at: 2 } })
const usage = (at: number, text = 'm') =>
  record({
    InferenceUsage: {
      stage: 's',
      iteration: 1,
      provider: 'p',
      model: text,
      prompt_tokens: 1,
      completion_tokens: 1,
      cached_tokens: 0,
      cache_write_tokens: 0,
      at,
    },
  })

async function begun(snapshots: SnapshotPolicy = TINY) {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive)
  const maintainer = createMaintainer(kit.ports, kit.clock, { snapshots })
  const maintain = async () => {
    await kit.ports.index.commit(run.key, {}, { set: { due_at: 0 } })
    await maintainer.pass()
  }
  const head = async () => (await kit.ports.index.head(run.key)) as Head
  const view = () => kit.archive.view(run.key)
  const bare = async () => {
    const plain = { ...(await head()), snapshot: null }
    return openView(kit.ports.objects, run.key, plain, async () => plain)
  }
  /** The same with snapshots as without, after any number of frames. */
  const expectSame = async (unreadable = 0) => {
    expect((await head()).unreadable).toBe(unreadable)
    for (let seq = 1; seq <= (await head()).frames; seq++) {
      const ask = async (looked: ArchiveView) => jsonText(await foldAnswer(looked, { seq }))
      expect((await ask(await view())) === (await ask(await bare())), `after ${seq} frames`).toBe(true)
    }
  }
  return { ...kit, run, maintain, head, view, expectSame }
}

/** Counts what is read of these objects from now on. */
function counting(objects: Objects) {
  const seen = { bytes: 0, pieces: [] as Uint8Array[] }
  const { get } = objects
  objects.get = async (key, range) => {
    const bytes = await get(key, range)
    seen.bytes += bytes?.length ?? 0
    if (bytes) seen.pieces.push(bytes)
    return bytes
  }
  return seen
}

describe('lists of a stretch', () => {
  it('of more than 4 MiB are read from its frames, in their order among the others', async () => {
    const { run, maintain, view, expectSame } = await begun()
    await run.append(header, say('first'), usage(1), say('y'.repeat(600)))
    await maintain()
    await run.append(say('before'), usage(2), say('z'.repeat(4 * MiB)), usage(3, 'q'.repeat(4 * MiB)))
    await maintain()
    await run.append(say('after'), usage(4), say('y'.repeat(600)))
    await maintain()
    const { entries } = await snapshotsOf(await view())
    expect(entries.filter(({ lists }) => lists === null).length).toBeGreaterThan(0)
    expect(entries.filter(({ lists }) => lists !== null && lists > 0).length).toBeGreaterThan(0)
    await expectSame()
  })

  it('are written up to that, and a message of any length is never', async () => {
    const { run, maintain, view, ports } = await begun()
    await run.append(header, say('y'.repeat(3 * MiB)))
    await maintain()
    await run.append(say('z'.repeat(5 * MiB)))
    const stored: number[] = []
    const { put } = ports.objects
    ports.objects.put = (key, chunks, facts) => {
      stored.push(chunks.reduce((sum, { length }) => sum + length, 0))
      return put(key, chunks, facts)
    }
    await maintain()
    const { entries } = await snapshotsOf(await view())
    expect(entries.map(({ lists }) => lists === null)).toEqual([false, true])
    expect(Math.max(...stored)).toBeLessThan(4096)
  })

  it('that are spelled in no canonical way, beside a large frame that is no record, are the same as without snapshots', async () => {
    const { run, maintain, expectSame } = await begun()
    const loose = `{ "Message" : {"at":7, "message": {"content": ${JSON.stringify('"\u00e9'.repeat(2 * MiB))}, "role":"user"}}}`
    await run.append(header, encodeFrame(new TextEncoder().encode(loose)), usage(8))
    await run.append(encodeFrame(new Uint8Array(5 * MiB)), say('y'.repeat(600)))
    await maintain()
    await expectSame(1)
  })
})

describe('a state', () => {
  it('of more JSON than the policy allows is not kept; one that is small again is', async () => {
    const { run, maintain, view, head, expectSame } = await begun()
    await run.append(header, say('y'.repeat(600)))
    await maintain()
    const before = (await head()).snapshot
    await run.append(window(16 * MiB, 2))
    await maintain()
    const large = await snapshotsOf(await view())
    expect(large.entries.at(-1)?.offset).toBe(before?.offset)
    expect(large.tried).toBe(run.tail)
    await run.append(window(10, 3), say('y'.repeat(17 * MiB)))
    await maintain()
    expect((await head()).snapshot?.offset).toBe(run.tail)
    await expectSame()
  })

  it('that was too large is not folded to again before the archive is twice as long', async () => {
    const { run, maintain, ports, view } = await begun()
    await run.append(header, window(17 * MiB, 2))
    await maintain()
    const { tried } = await snapshotsOf(await view())
    expect(tried).toBe(run.tail)
    await run.append(window(10, 3))
    const seen = counting(ports.objects)
    await maintain()
    expect(seen.bytes).toBeLessThan(MiB)
  })
})

/** What a fold costs to a process that knows nothing of the run: requests and bytes. */
function costOf({ objects }: StorePorts, run: StoredRun, head: () => Promise<Head>) {
  const seen = counting(objects)
  return async (seq: number) => {
    const plain = await head()
    const looked = openView(objects, run.key, plain, async () => plain)
    seen.bytes = 0
    seen.pieces = []
    await foldAnswer(looked, { seq, parts: ['meta', 'context', 'pending_batch'] })
    return { gets: seen.pieces.length, bytes: seen.bytes }
  }
}

it('a window of 18 MiB is read in three requests, however much has been appended since', async () => {
  const { run, maintain, ports, head } = await begun(SNAPSHOT_POLICY)
  await run.append(header)
  for (let n = 0; n < 18; n++) await run.append(region(`region ${n}`, MiB))
  for (let n = 0; n < 20; n++) await run.append(say('y'.repeat(MiB)))
  for (let visits = 0; visits < 3; visits++) await maintain()
  const { gets, bytes } = await costOf(ports, run, head)((await head()).frames)
  expect(gets).toBeLessThanOrEqual(3)
  expect(bytes).toBeLessThan(36 * MiB)
})

it('what a read costs grows with the archive while a window is too large to be kept, and is bounded before and after', async () => {
  const { run, maintain, ports, view, head } = await begun()
  const cost = costOf(ports, run, head)
  const framesNow = async () => (await head()).frames

  await run.append(header, say('y'.repeat(600)))
  await maintain()
  const before = await framesNow()
  const names = Array.from({ length: 17 }, (_, n) => `region ${n}`)
  for (const name of names) await run.append(region(name, MiB))
  await maintain()
  const kept = (await snapshotsOf(await view())).entries.at(-1)
  if (!kept) throw new Error('no state is kept')
  const packed = kept.length + 8192
  for (let more = 0; more < 3; more++) {
    const { bytes } = await cost(await framesNow())
    expect(bytes).toBeGreaterThan(run.tail - kept.offset)
    expect(bytes).toBeLessThan(run.tail - kept.offset + packed)
    await run.append(say('y'.repeat(MiB)))
    await maintain()
  }
  for (const seq of [before, kept.seq]) {
    const { gets, bytes } = await cost(seq)
    expect(gets).toBeLessThanOrEqual(3)
    expect(bytes).toBeLessThan(packed)
  }

  await run.append(...names.map((name) => region(name, 10)), say('y'.repeat(20 * MiB)), say('the last'))
  await maintain()
  const { gets, bytes } = await cost(await framesNow())
  expect(gets).toBeLessThanOrEqual(3)
  expect(bytes).toBeLessThan(8192)
})

it('the pieces of a large frame are given back as they are put together', async () => {
  const { run, maintain, ports } = await begun()
  await run.append(header)
  await run.append(say('y'.repeat(30 * MiB)))
  const seen = counting(ports.objects)
  await maintain()
  const kept = seen.pieces.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)
  expect(seen.bytes).toBeGreaterThan(30 * MiB)
  expect(kept).toBeLessThan(5 * MiB)
})
