import { expect, it } from 'vitest'
import { PREAMBLE } from '#codec'
import { createMaintainer, type Head, type StorePorts } from '#store'
import { frameOf, joined, StoredRun, say, testArchive } from '../kit/stored-run.ts'
import { Fixture } from '../shared/sessions/archive/kit.ts'
import { claudeRows } from '../shared/sessions/archive/rows.ts'

// One changed or lost extent failed every merge that would have taken it, and with it the whole visit: its run was neither
// merged nor swept any more, and at 512 extents answered every append with `slow_down` for ever. A fork of a lost extent
// did the same instead of naming it.

const HOUR = 3_600_000

type Damage = (ports: StorePorts, key: string) => Promise<void>
const changed: Damage = async ({ objects }, key) => {
  const bytes = (await objects.get(key)) as Uint8Array
  bytes[20] = (bytes[20] ?? 0) ^ 1
  await objects.put(key, [bytes], {})
}
const cut: Damage = async ({ objects }, key) =>
  objects.put(key, [((await objects.get(key)) as Uint8Array).subarray(0, 9)], {})
const lost: Damage = ({ objects }, key) => objects.remove([key])
const KINDS: [string, Damage][] = [
  ['changed', changed],
  ['cut', cut],
  ['lost', lost],
]

const keyAt = async ({ objects }: StorePorts, prefix: string, start: number) => {
  const found: string[] = []
  for await (const { key } of objects.list(prefix)) found.push(key)
  return found.find((key) => key.includes(`-${name(start)}-`)) as string
}

const name = (start: number) => String(start).padStart(16, '0')

it.each(KINDS)(
  'a run with an extent that is %s is merged around it, swept, and goes on',
  async (_, damage) => {
    const { archive, ports, clock } = testArchive()
    const { key, epoch } = await StoredRun.begin(archive)
    const maintainer = createMaintainer(ports, clock)
    const starts: number[] = []
    let offset = 0
    const grow = async (batches: number) => {
      for (let n = 0; n < batches; n++) {
        starts.push(offset)
        const frame = say(`batch ${n} ${'x'.repeat(200_000)}`)
        const bytes = offset === 0 ? joined(PREAMBLE, frame) : frame
        offset = (await archive.append(key, { offset, epoch, bytes })).tail
      }
    }
    const extents = async () => ((await ports.index.head(key)) as Head).extents
    await grow(20)
    const start = starts[7] as number
    const kept = (await extents())[name(start)]
    await damage(ports, await keyAt(ports, 'runs/', start))
    for (let pass = 0; pass < 6; pass++) {
      await grow(20)
      await maintainer.pass().catch(({ errors }) => {
        expect(errors).toMatchObject([{ code: 'internal', facts: { offset: start, length: kept?.length } }])
      })
      clock.advance(1000)
    }
    expect(Object.keys(await extents()).length).toBeLessThan(40)

    for (let hours = 0; hours < 4; hours++) {
      clock.advance(HOUR)
      await expect(maintainer.pass()).rejects.toThrow() // it is told as long as it is there
    }
    expect(Object.keys(await extents()).length).toBeLessThan(8)
    expect((await extents())[name(start)]).toEqual(kept)
    const stored: string[] = []
    for await (const object of ports.objects.list('runs/default/run/0')) stored.push(object.key)
    expect(stored.length).toBeLessThan(8)
  },
)

it('a large extent that is lost keeps the others from nothing, and is told of', async () => {
  const { archive, ports, clock } = testArchive()
  const run = await StoredRun.begin(archive)
  const starts: number[] = []
  for (let n = 0; n < 4; n++) {
    starts.push(run.tail)
    await run.append(frameOf(new Uint8Array(5 << 20)))
  }
  await lost(ports, await keyAt(ports, 'runs/', starts[2] as number))
  await archive.release(run.key, run.epoch)
  await expect(createMaintainer(ports, clock).pass()).rejects.toMatchObject({
    errors: [{ code: 'internal', facts: { offset: starts[2] } }],
  })
  const { extents } = (await ports.index.head(run.key)) as Head
  expect(Object.keys(extents).map(Number)).toEqual([0, starts[2], starts[3]])
})

it.each([100, 6 << 20])('a fork of a lost extent of %d bytes says which it is', async (bytes) => {
  const { archive, ports } = testArchive()
  const run = await StoredRun.begin(archive)
  await run.append(say('first'))
  const offset = run.tail
  await run.append(frameOf(new Uint8Array(bytes)))
  await lost(ports, await keyAt(ports, 'runs/', offset))
  const request = { seq: 2, run_id: 'fork', machine_id: 'm', world_id: 'w' }
  const facts = { offset, length: run.tail - offset }
  await expect(archive.fork(run.key, request)).rejects.toMatchObject({ code: 'internal', facts })
})

const PATHS = ['sid.jsonl', 'sid/subagents/agent-a.jsonl']

it('a file of a session with a changed extent is merged around it, and the others as ever', async () => {
  const { ports, clock } = testArchive()
  const session = new Fixture({ ports, clock })
  for (const path of PATHS) await session.append(path, claudeRows(0, 1))
  for (let n = 1; n < 80; n++) {
    for (const path of PATHS) await session.add(path, claudeRows(n, n + 1))
  }
  const key = (await session.keys('/files/')).sort()[50] as string
  await changed(ports, key)
  await expect(session.maintain()).rejects.toMatchObject({ errors: [{ code: 'internal' }] })
  for (const path of PATHS) {
    const { life } = await session.head()
    const file = await ports.sessions.file(session.session, { life, path })
    expect(Object.keys(file?.extents ?? {}).length).toBeLessThan(40)
  }
})
