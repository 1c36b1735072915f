import { describe, expect, it } from 'vitest'
import { createMaintainer, type Head, type StorePorts } from '#store'
import { plainHeader } from '../../kit/plain-header.ts'
import { frameOf, objectKeys, StoredRun, say, testArchive } from '../../kit/stored-run.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const started = async (batches: number) => {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive)
  for (let i = 0; i < batches; i++) await run.append(say(`batch ${i}`))
  const head = async () => (await kit.ports.index.head(run.key)) as Head
  return {
    ...kit,
    run,
    head,
    maintainer: createMaintainer(kit.ports, kit.clock),
    objects: () => objectsOf(kit.ports),
    extents: async () => Object.keys((await head()).extents).length,
  }
}

async function allKeys({ objects }: StorePorts): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of objects.list('')) keys.push(key)
  return keys
}

async function objectsOf(ports: StorePorts): Promise<number> {
  return (await objectKeys(ports)).length
}

const status = (word: string) => frameOf(`{"StatusChanged":{"status":"${word}","at":1}}`)
const header = frameOf(JSON.stringify(plainHeader()))

describe('a pass', () => {
  it('merges what many small appends left, and changes no byte', async () => {
    const { run, maintainer, extents } = await started(100)
    expect(await extents()).toBe(100)
    await maintainer.pass()
    expect(await extents()).toBeLessThan(32)
    expect(await run.stored()).toEqual(run.bytes)
    await run.append(say('more'))
    expect(await run.stored()).toEqual(run.bytes)
  })

  it('leaves a held run alone that has few extents', async () => {
    const { maintainer, extents, head, clock } = await started(20)
    clock.advance(1000)
    await maintainer.pass()
    expect(await extents()).toBe(20)
    expect((await head()).due_at).toBe((await head()).lease?.expires_at)
  })

  it('makes one object of a released run, and then has nothing to do with it', async () => {
    const { run, archive, maintainer, extents, head, clock, objects } = await started(20)
    await archive.release(run.key, run.epoch)
    await maintainer.pass()
    expect(await extents()).toBe(1)
    expect(await objects()).toBe(21)
    expect((await head()).due_at).toBe(clock.now() + HOUR)
    clock.advance(HOUR)
    await maintainer.pass()
    expect(await objects()).toBe(1)
    expect((await head()).due_at).toBeNull()
    expect(await run.stored()).toEqual(run.bytes)
  })

  it('makes one object of a run whose lease ran out', async () => {
    const { maintainer, extents, clock } = await started(20)
    clock.advance(60_000)
    await maintainer.pass()
    expect(await extents()).toBe(1)
  })

  it('does not lose a run whose lease runs out while it is looked at', async () => {
    const { run, ports, maintainer, extents, head, clock } = await started(5)
    await ports.index.commit(run.key, {}, { set: { due_at: clock.now() } })
    clock.advance(59_999)
    const card = ports.index.card
    ports.index.card = (key) => {
      clock.advance(1)
      return card(key)
    }
    await maintainer.pass()
    expect(await extents()).toBe(5)
    expect((await head()).due_at).toBe(clock.now())
    await maintainer.pass()
    expect(await extents()).toBe(1)
  })

  it('lists the objects of a run that goes on once a grace, however often it merges', async () => {
    const { run, ports, maintainer, head, objects, clock } = await started(40)
    let lists = 0
    const list = ports.objects.list
    ports.objects.list = (prefix) => {
      lists++
      return list(prefix)
    }
    for (let n = 0; n < 600; n++) {
      await run.append(say(`${n}`))
      clock.advance(HOUR / 200)
      await maintainer.pass()
    }
    expect(await run.stored()).toEqual(run.bytes)
    expect((await head()).sweep_at).toBeGreaterThan(clock.now())
    expect(lists).toBe(3)
    const { extents } = await head()
    expect(await objects()).toBeLessThan(Object.keys(extents).length + 2 * 230)
  })

  it('makes one object of an ended run that is still held, when its last records have come', async () => {
    const { archive, clock, ports } = testArchive()
    const run = await StoredRun.begin(archive)
    await archive.renew(run.key, { epoch: run.epoch, ttl_s: 3600 })
    const maintainer = createMaintainer(ports, clock)
    await run.append(header)
    await run.append(status('complete'))
    const extents = async () => Object.keys((await ports.index.head(run.key))?.extents ?? {}).length
    clock.advance(5000)
    await run.append(say('a last word'))
    clock.advance(9999)
    await maintainer.pass()
    expect(await extents()).toBe(3)
    clock.advance(1)
    await maintainer.pass()
    expect(await extents()).toBe(1)
    await run.append(status('running'))
    await run.append(say('it goes on'))
    clock.advance(10_000)
    await maintainer.pass()
    expect(await extents()).toBe(3)
  })

  it('collects what a refused append left, and the append that comes too late stores again', async () => {
    const { run, ports, maintainer, clock, objects, head } = await started(2)
    const late = say('late')
    const put = ports.objects.put
    // The writer stalls between its put and its commit for a day, while the run is idle and swept.
    ports.objects.put = async (...args) => {
      await put(...args)
      ports.objects.put = put
      clock.advance(DAY)
      expect(await objects()).toBe(3)
      await maintainer.pass()
      expect(await objects()).toBe(3) // without the late one, with what was merged of the others
      clock.advance(HOUR)
      await maintainer.pass()
      expect(await objects()).toBe(1)
      expect((await head()).sweep).toBe(1)
    }
    await run.append(late)
    expect(await run.stored()).toEqual(run.bytes)
  })

  it('takes every byte of a deleted run away after the grace, and looks again a day later', async () => {
    const { run, archive, ports, maintainer, clock, objects, head } = await started(3)
    await archive.remove(run.key, { force: true })
    clock.advance(HOUR - 1)
    await maintainer.pass()
    expect(await objects()).toBe(3)
    clock.advance(1)
    await maintainer.pass()
    expect(await objects()).toBe(0)
    // A stalled writer stores its object after all.
    await ports.objects.put('runs/default/run/0000000000-0000000000000000-1-0123456789abcdef', [say('x')], {})
    clock.advance(DAY - HOUR)
    await maintainer.pass()
    expect(await objects()).toBe(0)
    expect(await head()).toMatchObject({ alive: false, due_at: null })
  })

  it('leaves of a deleted run only the marker of its tombstone', async () => {
    const { run, archive, ports, maintainer, clock } = await started(40)
    await archive.release(run.key, run.epoch)
    await maintainer.pass()
    await archive.remove(run.key, { force: true })
    clock.advance(HOUR)
    await maintainer.pass()
    expect(await allKeys(ports)).toEqual([expect.stringMatching(/^runs\/default\/run\/tombstone-/)])
  })

  it('of two maintainers at once does the same as one', async () => {
    const { run, archive, ports, clock, maintainer, extents, objects } = await started(70)
    const other = createMaintainer(ports, clock)
    await Promise.all([maintainer.pass(), other.pass(), run.append(say('meanwhile'))])
    expect(await run.stored()).toEqual(run.bytes)
    await archive.release(run.key, run.epoch)
    await Promise.all([maintainer.pass(), other.pass()])
    await Promise.all([maintainer.pass(), other.pass()])
    expect(await extents()).toBe(1)
    clock.advance(2 * HOUR)
    await Promise.all([maintainer.pass(), other.pass()])
    expect(await objects()).toBe(1)
    expect(await run.stored()).toEqual(run.bytes)
  })

  it('mends a card whose write was lost', async () => {
    const { run, ports, maintainer, clock } = await started(0)
    await run.append(header)
    await ports.index.removeCard(run.key, 99)
    clock.advance(60_000)
    await maintainer.pass()
    expect(await ports.index.card(run.key)).toMatchObject({ card: { agent_name: 'a' }, tail: run.tail })
  })

  it('never merges damage under a new hash, says so, and serves the other runs', async () => {
    const { run, archive, ports, maintainer, extents, clock } = await started(2)
    const other = await StoredRun.begin(archive, 'other')
    for (let i = 0; i < 3; i++) await other.append(say(`${i}`))
    for await (const { key } of ports.objects.list('runs/default/run/')) {
      const bytes = (await ports.objects.get(key)) as Uint8Array
      bytes[20] = (bytes[20] ?? 0) ^ 1
      await ports.objects.put(key, [bytes], {})
    }
    for (const each of [run, other]) await archive.release(each.key, each.epoch)
    await expect(maintainer.pass()).rejects.toMatchObject({ errors: [{ code: 'internal' }] })
    expect(await extents()).toBe(2)
    expect(Object.keys((await ports.index.head(other.key))?.extents ?? {})).toHaveLength(1)
    await maintainer.pass() // the damaged run waits
    clock.advance(60_000)
    await expect(maintainer.pass()).rejects.toThrow()
  })

  it('once a day looks at runs that the due list has lost', async () => {
    const { run, archive, ports, maintainer, extents, clock } = await started(5)
    await archive.release(run.key, run.epoch)
    await ports.index.commit(run.key, {}, { set: { due_at: null } })
    await maintainer.pass()
    expect(await extents()).toBe(5)
    clock.advance(DAY)
    await maintainer.pass()
    expect(await extents()).toBe(1)
  })
})

it('large extents are copied inside the storage, and the hash says that nobody saw the bytes', async () => {
  const { archive, ports, clock } = testArchive()
  const run = await StoredRun.begin(archive)
  for (const size of [6 << 20, 100, 9 << 20]) await run.append(frameOf(new Uint8Array(size)))
  await archive.release(run.key, run.epoch)
  await createMaintainer(ports, clock).pass()
  const extents = Object.values((await ports.index.head(run.key))?.extents ?? {})
  expect(extents).toMatchObject([{ length: run.tail, hash: expect.stringMatching(/^x[0-9a-f]{15}$/) }])
  expect(Buffer.compare(await run.stored(), run.bytes)).toBe(0)
})
