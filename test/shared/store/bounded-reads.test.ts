import { expect, it } from 'vitest'
import { encodeFrame, encodeRecord } from '#codec'
import type { JournalRecord } from '#schema'
import {
  type ArchiveView,
  createMaintainer,
  diffAnswer,
  foldAnswer,
  type Objects,
  pointAnswer,
  pointsPage,
  recordsPage,
} from '#store'
import { SNAPSHOT_POLICY } from '../../../shared/store/maintain/snapshot-policy.ts'
import { plainHeader } from '../../kit/plain-header.ts'
import { StoredRun, testArchive } from '../../kit/stored-run.ts'

// P8: what a read costs has a bound that the run's length does not move. At a small size: stretches of 2 KB, and batches
// that are so large beside them that each counts as merged.

const POLICY = { ...SNAPSHOT_POLICY, everyBytes: 2000, mergedBytes: 4000 }
const FRAMES_A_BATCH = 40
const STRETCH_BYTES = 2600
const SNAPSHOT_BYTES = 1200
const ENTRY_BYTES = 60

const header = encodeFrame(new TextEncoder().encode(JSON.stringify(plainHeader())))

/** Says something new and forgets what was said before: windows stay small. */
const turn = (n: number): Uint8Array => {
  const entry = { content: `turn ${n} of the run`, tokens: 1, kind: { type: 'Text' }, taint: 'Internal' }
  const region = { name: 'history', kind: 'k', current_tokens: n, max_tokens: 9, entries: [entry] }
  const delta = { stage_name: 's', total_tokens: n, max_tokens: 9, regions: [{ Set: region }] }
  return encodeFrame(encodeRecord({ ContextDiff: { delta, at: n } } as unknown as JournalRecord))
}

/** Counts what is read of these objects from now on. */
function counting(objects: Objects) {
  const seen = { gets: 0, bytes: 0 }
  const { get } = objects
  objects.get = async (key, range) => {
    const bytes = await get(key, range)
    seen.gets++
    seen.bytes += bytes?.length ?? 0
    return bytes
  }
  return seen
}

async function runOf(batches: number) {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive)
  const maintainer = createMaintainer(kit.ports, kit.clock, { snapshots: POLICY })
  for (let batch = 0; batch < batches; batch++) {
    const frames = Array.from({ length: FRAMES_A_BATCH }, (_, n) => turn(batch * FRAMES_A_BATCH + n))
    await run.append(...(batch === 0 ? [header, ...frames] : frames))
  }
  await kit.ports.index.commit(run.key, {}, { set: { due_at: 0 } })
  await maintainer.pass()
  const seen = counting(kit.ports.objects)
  /** What one read costs that begins with nothing known. */
  const cost = async (read: (view: ArchiveView) => Promise<unknown>) => {
    const view = await kit.archive.view(run.key)
    Object.assign(seen, { gets: 0, bytes: 0 })
    await read(view)
    return { ...seen }
  }
  return { ...kit, run, cost, frames: batches * FRAMES_A_BATCH + 1, points: batches * FRAMES_A_BATCH }
}

for (const batches of [10, 30]) {
  it(`a run of ${batches} batches is read at any place in three requests, a diff in five`, async () => {
    const { cost, frames, points, run, archive } = await runOf(batches)
    expect((await archive.run(run.key)).answer.snapshot?.seq).toBe(frames)
    const entries = Math.ceil(run.tail / POLICY.everyBytes) + batches
    const bound = STRETCH_BYTES + SNAPSHOT_BYTES + entries * ENTRY_BYTES
    const bare = { parts: ['meta' as const, 'context' as const, 'pending_batch' as const] }
    for (let n = 0; n < points; n += 13) {
      for (const read of [
        (view: ArchiveView) => foldAnswer(view, { seq: n, ...bare }).catch(() => {}),
        (view: ArchiveView) => foldAnswer(view, { point: n, ...bare }),
        (view: ArchiveView) => foldAnswer(view, { at: n, ...bare }),
        (view: ArchiveView) => pointAnswer(view, n),
        (view: ArchiveView) => pointsPage(view, { from: n, limit: 1, order: 'desc', shape: 'delta' }),
        (view: ArchiveView) => pointsPage(view, { from: n, limit: 1, order: 'asc', shape: 'full' }),
      ]) {
        const { gets, bytes } = await cost(read)
        expect(gets).toBeLessThanOrEqual(3)
        expect(bytes).toBeLessThan(bound)
      }
      // A page may end in the next extent, and two more are fetched ahead then.
      expect((await cost((view) => recordsPage(view, { from: n, limit: 1 }))).gets).toBeLessThanOrEqual(4)
      const far = { from: n, to: (n * 31) % points }
      expect((await cost((view) => diffAnswer(view, far))).gets).toBeLessThanOrEqual(5)
    }
  })
}

it('a replayed batch is measured from the snapshot before it', async () => {
  const { cost, run } = await runOf(20)
  const frames = Array.from({ length: 20 * FRAMES_A_BATCH }, (_, n) => turn(n))
  const after = frames.slice(-60).reduce((sum, { length }) => sum + length, 0)
  const batch = frames.at(-60) as Uint8Array
  const { gets, bytes } = await cost(() => run.send({ offset: run.tail - after, bytes: batch }))
  expect(gets).toBeLessThanOrEqual(4)
  expect(bytes).toBeLessThan(STRETCH_BYTES + SNAPSHOT_BYTES + 4000)
})
