import { expect, it } from 'vitest'
import type { ListQuery } from '#schema'
import { listQuery } from '#schema'
import { plainHeader } from '../../kit/plain-header.ts'
import { frameOf, StoredRun, say, testArchive } from '../../kit/stored-run.ts'

const query = (more: Record<string, string> = {}): ListQuery => listQuery.parse(more)

const header = (meta: object): Uint8Array =>
  frameOf(
    JSON.stringify(
      plainHeader({ agent_name: 'agent', task: 'task', ...meta }, { machine_id: 'the-machine' }),
    ),
  )

async function runs(...metas: Record<string, unknown>[]) {
  const kit = testArchive()
  const made: StoredRun[] = []
  for (const [i, meta] of metas.entries()) {
    const run = await StoredRun.begin(kit.archive, `run-${i}`)
    await run.append(header(meta))
    made.push(run)
    kit.clock.advance(1000)
  }
  const ids = async (more: Record<string, string> = {}) =>
    (await kit.archive.list('default', query({ order: 'asc', ...more }))).items.map(({ run_id }) =>
      Number(run_id.slice(4)),
    )
  return { ...kit, made, ids }
}

it('shows cards newest first, with what moves and what stays', async () => {
  const { archive, made } = await runs({ iteration: 7 }, { title: 'T', prompt_tokens: 5 })
  const { items, next_cursor } = await archive.list('default', query())
  expect(items.map(({ run_id }) => run_id)).toEqual(['run-1', 'run-0'])
  expect(items[0]).toMatchObject({
    title: 'T',
    prompt_tokens: 5,
    agent_name: 'agent',
    machine_id: 'the-machine',
  })
  expect(items[1]).toMatchObject({ title: null, iteration: 7 })
  expect(next_cursor).toBeNull()
  const { answer } = await archive.run((made[0] as StoredRun).key)
  expect(answer).toMatchObject(items[1] as object)
})

it('keeps the digits of 64-bit numbers', async () => {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive)
  const text = new TextDecoder().decode(header({}).subarray(8))
  await run.append(
    frameOf(
      text
        .replace('"started_at":1', '"started_at":-9223372036854775808')
        .replace('"iteration":0', '"iteration":18446744073709551615'),
    ),
  )
  const { items } = await kit.archive.list('default', query())
  expect(items).toMatchObject([{ started_at: -(2n ** 63n), iteration: 2n ** 64n - 1n }])
})

it('filters by every parameter, taken literally', async () => {
  const { ids } = await runs(
    { status: 'running', title: 'Fix THE thing' },
    { status: 'waiting_input', task: '100% _done_ (a.b*)', parent_run_id: 'p' },
    { status: 'complete', workdir: '/srv/dir', agent_name: 'other' },
    { status: 'error', error: 'Boom ÄÖ' },
  )
  expect(await ids({ status: 'Waiting-Input,ERROR' })).toEqual([1, 3])
  expect(await ids({ agent: 'agent' })).toEqual([0, 1, 3])
  expect(await ids({ agent: 'age' })).toEqual([])
  expect(await ids({ machine: 'the-machine', status: 'running' })).toEqual([0])
  expect(await ids({ parent: 'p' })).toEqual([1])
  expect(await ids({ parent: 'none' })).toEqual([0, 2, 3])
  expect(await ids({ q: 'the THING' })).toEqual([0])
  expect(await ids({ q: '% _DONE_ (A.B*)' })).toEqual([1])
  expect(await ids({ q: '/srv' })).toEqual([2])
  expect(await ids({ q: 'boom äö' })).toEqual([3])
  expect(await ids({ q: 'RUN-2' })).toEqual([2])
  expect(await ids({ q: 'OTHER' })).toEqual([2])
  expect(await ids({ q: '.' })).toEqual([1])
})

it('goes on from a time, in both directions', async () => {
  const { archive, clock, ids } = await runs({}, {}, {}, {})
  const since = new Date(clock.now() - 2000).toISOString()
  expect(await ids({ since })).toEqual([2, 3])
  expect(await ids({ since, order: 'desc' })).toEqual([3, 2])
  expect((await archive.list('default', query({ since, limit: '1' }))).next_cursor).not.toBeNull()
})

it('walks all runs once at any page size, while runs come and go', async () => {
  for (const order of ['asc', 'desc'] as const) {
    for (const limit of ['1', '2', '3', '10', '11']) {
      const { archive, made } = await runs(...Array.from({ length: 10 }, () => ({})))
      const seen: string[] = []
      let cursor: string | undefined
      for (let page = 0; ; page++) {
        const answer = await archive.list('default', query({ order, limit, ...(cursor && { cursor }) }))
        seen.push(...answer.items.map(({ run_id }) => run_id))
        if (answer.next_cursor === null) break
        cursor = answer.next_cursor
        await StoredRun.begin(archive, `more-${page}`)
        if (page === 0) await archive.remove((made[5] as StoredRun).key, { force: true })
        await made[7]?.append(say('still there'))
      }
      expect(new Set(seen).size).toBe(seen.length)
      const stable = made.filter((run) => run !== made[5]).map(({ key }) => key.run_id)
      expect(seen.filter((id) => stable.includes(id)).toSorted()).toEqual(stable.toSorted())
    }
  }
})

it('gives full pages of a rare match, and says when it gave up looking', async () => {
  const { archive, ports, clock } = testArchive()
  const rare = (i: number) => i === 3 || i === 2500 || i === 10_400 || i === 10_450
  for (let i = 0; i < 10_500; i++) {
    const run = { tenant: 'default', run_id: `run-${i}` }
    await archive.acquire(run, { machine_id: 'm', world_id: 'w' })
    const row = await ports.index.card(run)
    if (row && rare(i)) await ports.index.commit(run, {}, { set: {} }, { ...row, workdir: 'needle' })
    clock.advance(1)
  }
  const first = await archive.list('default', query({ order: 'asc', q: 'needle', limit: '2' }))
  expect(first.items.map(({ run_id }) => run_id)).toEqual(['run-3', 'run-2500'])
  expect(first).toMatchObject({ scan_truncated: true, next_cursor: expect.any(String) })
  const cursor = first.next_cursor ?? ''
  const second = await archive.list('default', query({ order: 'asc', q: 'needle', limit: '2', cursor }))
  expect(second.items.map(({ run_id }) => run_id)).toEqual(['run-10400', 'run-10450'])
  expect(second.next_cursor).toBeNull()
  expect(second).not.toHaveProperty('scan_truncated')
}, 30_000)

it('refuses a cursor of another question, tenant or maker', async () => {
  const { archive } = await runs({}, {}, {}, {})
  const { next_cursor } = await archive.list('default', query({ limit: '2' }))
  const cursor = next_cursor ?? ''
  const listed = (more: Record<string, string>, tenant = 'default', run_prefix?: string) =>
    archive.list(tenant, query({ limit: '2', cursor, ...more }), run_prefix ? { run_prefix } : {})
  expect((await listed({ limit: '5' })).items).toHaveLength(2)
  const refusals = [
    listed({ status: 'running' }),
    listed({ order: 'asc' }),
    listed({ q: 'x' }),
    listed({}, 'other'),
    listed({}, 'default', 'run'),
    listed({ cursor: `${cursor.slice(0, -2)}AA` }),
    listed({ cursor: btoa('[1,"x","0123456789abcdef"]') }),
    listed({ cursor: 'x' }),
  ]
  for (const refusal of refusals) await expect(refusal).rejects.toMatchObject({ code: 'bad_request' })
})

it('shows a bounded token its own runs alone', async () => {
  const { archive } = testArchive()
  for (const id of ['a-1', 'b-1', 'a-2']) await StoredRun.begin(archive, id)
  const { items } = await archive.list('default', query(), { run_prefix: 'a-' })
  expect(items.map(({ run_id }) => run_id).toSorted()).toEqual(['a-1', 'a-2'])
  expect((await archive.list('other', query())).items).toEqual([])
})

it('describes one run with a tag that follows it', async () => {
  const { archive, made } = await runs({})
  const run = made[0] as StoredRun
  const first = await archive.run(run.key)
  expect(first.answer).toMatchObject({
    tail: run.tail,
    frames: 1,
    stored: { objects: 1, bytes: run.tail },
    snapshot: null,
  })
  expect((await archive.run(run.key)).etag).toBe(first.etag)
  await run.append(say('more'))
  expect((await archive.run(run.key)).etag).not.toBe(first.etag)
})
