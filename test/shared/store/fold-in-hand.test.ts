import { expect, it } from 'vitest'
import { jsonText } from '#codec'
import { createMaintainer, foldAnswer, type Head, openView } from '#store'
import { awsTariff } from '#store/aws'
import { SNAPSHOT_POLICY } from '../../../shared/store/maintain/snapshot-policy.ts'
import { meter } from '../../../shared/store/meter/meter.ts'
import { snapshotsOf } from '../../../shared/store/reading/snapshots.ts'
import { StoredRun, say, testArchive } from '../../kit/stored-run.ts'

// A merge has the bytes in hand that snapshots are made of: it folds them at once, and both become known by one commit.

const POLICY = { ...SNAPSHOT_POLICY, everyBytes: 4000, mergedBytes: 20_000 }
const APPENDS = 32
const BYTES = 1000

async function grown() {
  const kit = testArchive()
  const metered = meter(kit.ports, awsTariff)
  const maintainer = createMaintainer(metered.ports, kit.clock, { snapshots: POLICY })
  const run = await StoredRun.begin(kit.archive)
  const head = async () => (await kit.ports.index.head(run.key)) as Head
  /** As many small batches as make a merge. */
  const grow = async () => {
    for (let n = 0; n < APPENDS; n++) await run.append(say(`${n} `.padEnd(BYTES, 'x')))
    metered.reset()
    await maintainer.pass()
    return metered.readings()
  }
  return { ...kit, run, head, grow }
}

it('states, index and merge are two objects and one commit, and nothing is read twice', async () => {
  const { grow, head } = await grown()
  const first = await grow()
  expect((await head()).snapshot?.offset).toBe((await head()).tail)
  // And a manifest, since one object is all that there is.
  expect([first.put.requests, first.get.requests, first.item_write.requests]).toEqual([3, APPENDS, 1])
  const second = await grow()
  // The index and the state that it goes on from.
  expect([second.put.requests, second.get.requests, second.item_write.requests]).toEqual([2, APPENDS + 2, 1])
  expect((await head()).snapshot?.offset).toBe((await head()).tail)
})

it('the run is not due before its lease ends, and is where an append came meanwhile', async () => {
  const { grow, head, run } = await grown()
  await grow()
  const { lease, due_at } = await head()
  expect(due_at).toBe(lease?.expires_at)
  for (let n = 0; n < APPENDS; n++) await run.append(say('again'))
  expect((await head()).due_at).toBeLessThan(lease?.expires_at ?? 0)
})

it('answers are those of the archive alone', async () => {
  const { grow, head, run, ports, archive } = await grown()
  await grow()
  await grow()
  const plain = { ...(await head()), snapshot: null }
  const bare = openView(ports.objects, run.key, plain, async () => plain)
  const view = await archive.view(run.key)
  expect((await snapshotsOf(view)).entries.length).toBeGreaterThan(10)
  for (let seq = 1; seq <= plain.frames; seq++) {
    const [with_, without] = [view, bare].map((from) => foldAnswer(from, { seq }).then(jsonText, String))
    expect(await with_).toBe(await without)
  }
})

it('a merge goes on where its snapshots cannot be stored', async () => {
  const { grow, head, ports } = await grown()
  const { put } = ports.objects
  ports.objects.put = async (key, ...rest) => {
    if (key.includes('/snapshots-')) throw new Error('no room')
    return put(key, ...rest)
  }
  await expect(grow()).rejects.toThrow('maintenance failed')
  expect(Object.keys((await head()).extents)).toHaveLength(1)
  expect((await head()).snapshot).toBeNull()
})
