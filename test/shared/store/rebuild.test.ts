import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, type Head, type RebuiltRun, rebuild, type StorePorts } from '#store'
import { openLocalStore } from '#store/local'
import { memoryPorts } from '#store/memory'
import { derivedKey, objectKey, parseNoteKey } from '../../../shared/store/keys.ts'
import { type ManualClock, manualClock } from '../../kit/manual-clock.ts'
import { answersOf, type Deed, deeds, History } from '../../kit/rebuild-history.ts'
import { portsOf, type StandIns, startStandIns } from '../../kit/stand-ins.ts'
import { joined, LIMITS, objectKeys, StoredRun, say, sha256 } from '../../kit/stored-run.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

const HOUR = 3_600_000
const WEEK = 7 * 24 * HOUR
const KEY = { tenant: 'default', run_id: 'run' }

/** The same objects under an index that knows nothing. */
const bare = ({ objects, uploads }: StorePorts, clock: ManualClock): StorePorts => ({
  ...memoryPorts(clock),
  objects,
  uploads,
})

const rebuilt = async (ports: StorePorts, clock: ManualClock) => {
  const runs: RebuiltRun[] = []
  for await (const run of rebuild(ports, clock)) {
    if (run.outcome === 'failed') throw run.error
    runs.push(run)
  }
  return runs
}

/** Plays a past, takes the index away by `wipe`, rebuilds it, and holds every answer against the one before. */
async function surviving(
  past: readonly Deed[],
  ports: StorePorts,
  clock: ManualClock,
  wipe: () => Promise<StorePorts>,
) {
  const history = new History(ports, clock)
  await history.play(past)
  const before = await Promise.all(
    history.runs.map((run) => answersOf(history.archive, run.key, history.told(run))),
  )
  const heads = await Promise.all(history.runs.map(({ key }) => ports.index.head(key)))
  const order = await history.archive.list('default', { order: 'asc', limit: 50 })

  const after = await wipe()
  clock.advance(1000)
  const archive = createArchive(after, { clock, limits: LIMITS })
  for (const run of await rebuilt(after, clock)) expect(run).toMatchObject({ undecided: [], lost: null })
  expect(
    await Promise.all(history.runs.map((run) => answersOf(archive, run.key, history.told(run)))),
  ).toEqual(before)
  const listed = await archive.list('default', { order: 'asc', limit: 50 })
  expect(listed.items).toEqual(order.items)

  for (const [n, { key, bytes, epoch }] of history.runs.entries()) {
    const was = heads[n] as Head
    const head = (await after.index.head(key)) as Head
    expect(head.epoch).toBeGreaterThanOrEqual(was.epoch + 2 ** 20)
    expect(head.sweep).toBeGreaterThanOrEqual(was.sweep)
    const late = archive.append(key, { epoch, offset: bytes.length, bytes: say('late') })
    await expect(late).rejects.toMatchObject({ code: 'fenced' })
  }
  await goesOn(history, after, clock)
}

/** The runs live on: appends, merges, and the sweep once the week is over. */
async function goesOn(history: History, ports: StorePorts, clock: ManualClock) {
  const archive = createArchive(ports, { clock, limits: LIMITS })
  const maintainer = createMaintainer(ports, clock)
  await maintainer.pass()
  for (const run of history.runs) {
    const { epoch, tail } = (await archive.acquire(run.key, run.owner)).answer
    const bytes = say('it goes on')
    await archive.append(run.key, { epoch, offset: tail, bytes })
    run.bytes = joined(run.bytes, bytes)
  }
  for (const pause of [2 * HOUR, WEEK, 2 * HOUR]) {
    clock.advance(pause)
    await maintainer.pass()
  }
  for (const run of history.runs) {
    expect((await answersOf(archive, run.key, new Set())).bytes).toBe(sha256(run.bytes))
  }
}

describe('a rebuild from the objects alone', () => {
  it('gives every answer back, whatever the runs went through', async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (past) => {
        const clock = manualClock()
        const ports = memoryPorts(clock)
        await surviving(past, ports, clock, async () => bare(ports, clock))
      }),
      { numRuns: 60 },
    )
  }, 120_000)

  it('does so on files', async () => {
    const folder = temporaryFolder()
    const clock = manualClock(Date.now())
    const store = await openLocalStore(folder, { clock })
    let after: Awaited<ReturnType<typeof openLocalStore>> | undefined
    await surviving(PAST, store.ports, clock, async () => {
      store.close()
      for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `index.sqlite${end}`), { force: true })
      after = await openLocalStore(folder, { clock })
      return after.ports
    })
    after?.close()
  }, 60_000)

  describe('on S3 and DynamoDB', () => {
    let standIns: StandIns
    beforeAll(async () => {
      standIns = await startStandIns()
    })
    afterAll(() => standIns.stop())

    it('does so under any prefix', async () => {
      const clock = manualClock(Date.now())
      const before = portsOf(standIns, 'some/prefix/')
      const after = portsOf(standIns, 'some/prefix/', 'other-table')
      await after.ensureTable()
      await surviving(PAST, before, clock, async () => after)
      before.close()
      after.close()
    }, 60_000)
  })

  const begun = async (batches: number) => {
    const clock = manualClock()
    const ports = memoryPorts(clock)
    const archive = createArchive(ports, { clock, limits: LIMITS })
    const run = await StoredRun.begin(archive)
    for (let n = 0; n < batches; n++) await run.append(say(`batch ${n}`))
    const again = bare(ports, clock)
    return { clock, ports, archive, run, again, rebuilt: async () => (await rebuilt(again, clock))[0] }
  }

  /** What a writer leaves whose commit never came. */
  const leave = async (
    { ports, run }: Awaited<ReturnType<typeof begun>>,
    bytes: Uint8Array,
    more: object = {},
  ) => {
    const head = (await ports.index.head(run.key)) as Head
    const key = objectKey(KEY, run.tail, {
      length: bytes.length,
      hash: sha256(bytes).slice(0, 16),
      sweep: head.sweep,
    })
    const facts = {
      life: '1',
      epoch: String(run.epoch),
      offset: String(run.tail),
      'digest-before': head.digest,
    }
    await ports.objects.put(key, [bytes], { ...facts, ...more })
    return key
  }

  it('keeps the last batch, which nothing after it proves', async () => {
    const { run, rebuilt } = await begun(3)
    expect(await rebuilt()).toMatchObject({ tail: run.tail, undecided: [], lost: null })
  })

  it('keeps aside what two wrote with one epoch for one place, and says so', async () => {
    const kit = await begun(3)
    const { run, clock, again } = kit
    const certain = run.tail
    const lost = await leave(kit, say('of the other'))
    await run.append(say('of the one'))
    const found = await kit.rebuilt()
    expect(found?.tail).toBe(certain)
    expect(found?.undecided).toHaveLength(2)
    expect(found?.undecided).toContain(lost)
    clock.advance(WEEK - HOUR)
    await createMaintainer(again, clock).pass()
    expect(await objectKeys(again)).toEqual(expect.arrayContaining([...(found?.undecided ?? [])]))
  })

  it('takes the longer of two where one is the beginning of the other', async () => {
    const kit = await begun(3)
    const { run } = kit
    await leave(kit, say('first'))
    await run.append(say('first'), say('second'))
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, undecided: [] })
  })

  it('believes the newer owner, who saw the tail before it wrote', async () => {
    const kit = await begun(3)
    const { run, archive } = kit
    await leave(kit, say('of the old owner, and longer than that of the new'))
    run.epoch = (
      await archive.acquire(run.key, { machine_id: 'heir', world_id: 'w', force: true })
    ).answer.epoch
    await run.append(say('of the heir'))
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, undecided: [] })
  })

  it('takes no upload that was refused, for its frames or for its digest', async () => {
    const kit = await begun(2)
    const { run } = kit
    await leave(kit, say('x').subarray(0, 20))
    await leave(kit, say('not as announced'), { sha256: sha256(say('other')) })
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, undecided: [] })
  })

  it('stops before archive bytes that are gone, and says which', async () => {
    const kit = await begun(5)
    const { run, ports } = kit
    const [, , third] = Object.entries(((await ports.index.head(run.key)) as Head).extents)
    const [name, extent] = third as NonNullable<typeof third>
    await ports.objects.remove([objectKey(KEY, Number(name), extent)])
    const last = Object.keys(((await ports.index.head(run.key)) as Head).extents).at(-1)
    expect(await kit.rebuilt()).toMatchObject({
      tail: Number(name),
      lost: { start: Number(name), end: Number(last) },
    })
  })

  it('gives back a run without any frame, above the epoch it had', async () => {
    const { rebuilt, again } = await begun(0)
    expect(await rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: 0, epoch: 2 ** 20 + 1 })
    expect(await again.index.head(KEY)).toMatchObject({ alive: true, lease: null })
  })

  it('gives no deleted run back, nor its epochs to a new one', async () => {
    const kit = await begun(3)
    const { archive, run, again, clock } = kit
    await archive.remove(run.key, { force: true })
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'deleted' })
    const anew = createArchive(again, { clock, limits: LIMITS })
    await expect(anew.view(KEY)).rejects.toMatchObject({ code: 'not_found' })
    expect((await anew.acquire(KEY, run.owner)).answer.epoch).toBeGreaterThan(2 ** 20)
  })

  it('is not misled by a deletion that was announced and never made', async () => {
    const kit = await begun(3)
    const { run, archive, ports, clock } = kit
    const commit = ports.index.commit
    ports.index.commit = async () => {
      throw new Error('a crash')
    }
    await expect(archive.remove(run.key, { force: true })).rejects.toThrow('a crash')
    ports.index.commit = commit
    // The run lives on, and its next sweep takes the marker back.
    await archive.release(run.key, run.epoch)
    clock.advance(2 * HOUR)
    await createMaintainer(ports, clock).pass()
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: run.tail })
  })

  it('makes of a life that was announced and never made an empty run, and nothing of the one before', async () => {
    const kit = await begun(3)
    const { run, archive, ports, again } = kit
    await archive.remove(run.key, { force: true })
    const tombstone = (await ports.index.head(run.key)) as Head
    const commit = ports.index.commit
    ports.index.commit = async () => {
      throw new Error('a crash')
    }
    await expect(archive.acquire(run.key, run.owner)).rejects.toThrow('a crash')
    ports.index.commit = commit
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'rebuilt', tail: 0, frames: 0, undecided: [] })
    const head = (await again.index.head(KEY)) as Head
    expect(head.life).toBeGreaterThan(tombstone.life)
    expect(head.epoch).toBeGreaterThan(tombstone.epoch + 2 ** 20)
    expect(head.sweep).toBeGreaterThan(tombstone.sweep)
  })

  it('counts generations on from those of snapshots too', async () => {
    const kit = await begun(3)
    const place = { life: 1, seq: 1, offset: 100, stateBytes: 0, indexBytes: 1, hash: '0123456789abcdef' }
    const key = derivedKey(KEY, { ...place, sweep: 41 })
    await kit.ports.objects.put(key, [new Uint8Array(1)], {})
    await kit.rebuilt()
    expect((await kit.again.index.head(KEY))?.sweep).toBeGreaterThan(41)
  })

  it('loses nothing to a maintenance that dies between any two writes', async () => {
    let isDone = false
    for (let writes = 0; !isDone; writes++) {
      const { run, archive, ports, clock, rebuilt } = await begun(35)
      await createMaintainer(ports, clock).pass()
      for (let n = 0; n < 35; n++) await run.append(say(`more ${n}`))
      await archive.release(run.key, run.epoch)
      // Merged twice, with the grace of the first merges over: everything that maintenance does, up to its last write.
      clock.advance(2 * HOUR)
      const { mortal, hasDied } = dyingAfter(ports, writes)
      await createMaintainer(mortal, clock)
        .pass()
        .catch(() => {})
      isDone = !hasDied()
      expect(await rebuilt(), `died after ${writes} writes`).toMatchObject({
        tail: run.tail,
        frames: 70,
        undecided: [],
        lost: null,
      })
    }
  })

  it('knows the owners whose objects were merged and swept away', async () => {
    const kit = await begun(40)
    const { run, archive, ports, clock, again } = kit
    for (const name of ['second', 'third']) {
      const asked = { machine_id: name, world_id: 'world', force: true }
      run.epoch = (await archive.acquire(KEY, asked)).answer.epoch
      for (let n = 0; n < 40; n++) await run.append(say(`${name} ${n}`))
    }
    const maintainer = createMaintainer(ports, clock, { graceMs: 1000 })
    await maintainer.pass()
    clock.advance(2000)
    await maintainer.pass()
    const head = (await ports.index.head(KEY)) as Head
    expect(await objectKeys(ports)).toHaveLength(Object.keys(head.extents).length)
    const { history } = await archive.leaseState(KEY)
    await kit.rebuilt()
    expect(history.map(({ machine_id }) => machine_id)).toEqual(['third', 'second', 'machine'])
    const after = createArchive(again, { clock, limits: LIMITS })
    expect((await after.leaseState(KEY)).history).toEqual(history)
    expect((await again.index.head(KEY))?.previous).toEqual(head.previous)
  })

  it('goes by an older manifest where the newest is damaged', async () => {
    const kit = await begun(20)
    const { run, archive, ports, clock } = kit
    await archive.release(run.key, run.epoch)
    await createMaintainer(ports, clock).pass()
    for await (const { key } of ports.objects.list('runs/')) {
      const note = parseNoteKey(KEY, key)
      if (note && note.at > 0) await ports.objects.put(key, [say('damage')], {})
    }
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, undecided: [], lost: null })
  })

  it('leaves what the index knows as it is, and may be repeated', async () => {
    const kit = await begun(3)
    await kit.rebuilt()
    const head = await kit.again.index.head(KEY)
    expect(await kit.rebuilt()).toMatchObject({ outcome: 'known' })
    expect(await kit.again.index.head(KEY)).toEqual(head)
  })
})

/** Memory ports that fail for good after so many writes. */
function dyingAfter(ports: StorePorts, writes: number) {
  let left = writes
  let hasDied = false
  const mortal = <T extends object>(target: T, names: readonly (keyof T)[]): T => {
    const guarded = names.map((name) => {
      const act = target[name] as (...args: unknown[]) => Promise<unknown>
      const tried = async (...args: unknown[]) => {
        if (left-- > 0) return act(...args)
        hasDied = true
        throw new Error('dead')
      }
      return [name, tried]
    })
    return { ...target, ...Object.fromEntries(guarded) }
  }
  const objects = mortal(ports.objects, ['put', 'compose', 'remove'])
  const index = mortal(ports.index, ['commit', 'removeCard', 'putTransfer'])
  return { mortal: { ...ports, objects, index }, hasDied: () => hasDied }
}

/** A past with some of everything. */
const PAST: readonly Deed[] = fc.sample(deeds, { numRuns: 3, seed: 20_261_130 }).flat().slice(0, 120)
