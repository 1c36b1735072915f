import { describe, expect, it } from 'vitest'
import { jsonText } from '#codec'
import { type Archive, createArchive, foldAnswer, type StorePorts } from '#store'
import { WarmStates } from '../../../../shared/store/reading/warm.ts'
import { plainHeader } from '../../../kit/plain-header.ts'
import { frameOf, LIMITS, StoredRun, say, testArchive } from '../../../kit/stored-run.ts'

const header = frameOf(JSON.stringify(plainHeader()))

const messages = async (archive: Archive, run: StoredRun): Promise<string> => {
  const { folded } = await foldAnswer(await archive.view(run.key), { parts: ['messages'] })
  return jsonText(folded.messages)
}

async function warmed(run_id = 'run') {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive, run_id)
  await run.append(header, say('one'), say('two'))
  await fold(kit.archive, run)
  return { ...kit, run, read: countReads(kit.ports) }
}

const fold = async (archive: Archive, run: StoredRun) =>
  jsonText(await foldAnswer(await archive.view(run.key), {}))

/** What is read of the objects from now on. */
function countReads({ objects }: StorePorts) {
  const { get } = objects
  const read = { gets: 0, bytes: 0 }
  objects.get = async (key, range) => {
    const bytes = await get(key, range)
    read.gets++
    read.bytes += bytes?.length ?? 0
    return bytes
  }
  return read
}

describe('a warm fold', () => {
  it('reads nothing where nothing was appended, and only the new tail elsewhere', async () => {
    const { archive, ports, clock, run, read } = await warmed()
    await fold(archive, run)
    expect(read.gets).toBe(0)
    const more = say('three')
    await run.append(more)
    const cold = createArchive(ports, { clock, limits: LIMITS })
    const answer = await fold(archive, run)
    expect(read).toEqual({ gets: 1, bytes: more.length })
    expect(answer).toBe(await fold(cold, run))
  })

  it('has lists only where they were kept', async () => {
    const { archive, ports, clock, run } = await warmed()
    const other = createArchive(ports, { clock, limits: LIMITS })
    await foldAnswer(await other.view(run.key), { parts: ['meta'] })
    expect(await fold(other, run)).toBe(await fold(archive, run))
    expect(await messages(other, run)).toContain('two')
  })

  it('is of one tenant, one life and one epoch', async () => {
    const { archive, run, read } = await warmed()
    const twin = new StoredRun(archive, 'run', 'machine')
    Object.assign(twin, { key: { tenant: 'other', run_id: 'run' } })
    twin.epoch = (await archive.acquire(twin.key, twin.owner)).answer.epoch
    await twin.append(header, say('mine'), say('own'))
    expect(await messages(archive, twin)).not.toContain('one')
    expect(await messages(archive, run)).not.toContain('mine')

    await archive.acquire(run.key, { machine_id: 'thief', world_id: 'w', force: true })
    read.gets = 0
    await fold(archive, run)
    expect(read.gets).toBe(1)

    await archive.remove(run.key, { force: true })
    const again = await StoredRun.begin(archive)
    await again.append(header, say('new'), say('two'))
    expect(await messages(archive, again)).not.toContain('one')
  })

  it('is not believed where the archive has another digest', async () => {
    const { archive, ports, run, read } = await warmed()
    await ports.index.commit(run.key, {}, { set: { digest: '0'.repeat(64) } })
    read.gets = 0
    await fold(archive, run)
    expect(read.gets).toBe(1)
  })
})

it('what is kept has a bound in bytes, and the least recently used goes first', async () => {
  const { archive, run } = await warmed()
  const views = []
  for (const run_id of ['a', 'b', 'c']) {
    const each = await StoredRun.begin(archive, run_id)
    await each.append(header, say('x'.repeat(100_000)))
    views.push(await archive.view(each.key))
  }
  views.push(await archive.view(run.key))
  const warm = new WarmStates(undefined, 250_000)
  const all = { messages: true, inference_usage: true }
  for (const view of views) await foldAnswer({ ...view, warm }, {})
  expect(views.map((view) => warm.find(view, all) !== undefined)).toEqual([false, true, true, true])
  await foldAnswer({ ...(views[1] as (typeof views)[0]), warm }, {})
  await foldAnswer({ ...(views[0] as (typeof views)[0]), warm }, {})
  expect(views.map((view) => warm.find(view, all) !== undefined)).toEqual([true, true, false, true])
})
