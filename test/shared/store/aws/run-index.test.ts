import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { RunKey } from '#schema'
import { NOTHING } from '../../../../shared/store/head.ts'
import type { CardRow, Extent, Head } from '../../../../shared/store/ports.ts'
import { type ChooseFault, type Fault, startFaultProxy } from '../../../kit/fault-proxy.ts'
import { portsOf, type StandIns, startStandIns } from '../../../kit/stand-ins.ts'

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

const now = 1_796_042_640_748
const worker = { machine_id: '0123456789abcdef', world_id: 'fedcba9876543210' }
const name = (start: number) => String(start).padStart(16, '0')
const extent = (length: number, at = now): Extent => ({ length, hash: '0123456789abcdef', sweep: 0, at })

const head: Omit<Head, 'extents'> = {
  ...NOTHING,
  life: 1,
  alive: true,
  epoch: 1,
  sweep: 0,
  lease: { ...worker, ttl_s: 60, expires_at: now },
  digest: 'ab'.repeat(32),
  hash_state: 'v1',
  due_at: null,
  created_at: now,
  changed_at: now,
}

function cardRow(run: RunKey, row: Partial<CardRow> = {}): CardRow {
  const card = {
    run_id: run.run_id,
    agent_name: 'builder',
    title: null,
    task: '',
    status: 'running',
    model: null,
    parent_run_id: null,
    machine_id: null,
    world_id: null,
    started_at: 2n ** 63n - 1n,
    error: null,
  } as const
  return { run, life: 1, tail: 0, created_at: now, card, workdir: '/w', ...row }
}

let tests = 0
/** A run of this test alone, behind a proxy that faults as it is told. */
async function indexBehind(choose: ChooseFault = () => undefined) {
  const proxy = await startFaultProxy(standIns.dynamodb, choose)
  const { index, close } = portsOf({ ...standIns, dynamodb: proxy.endpoint })
  const honest = portsOf(standIns)
  const run = { tenant: `tenant-${tests++}`, run_id: 'run-1' }
  await honest.index.commit(run, { absent: true }, { set: head, extents: {} })
  onTestFinished(async () => {
    close()
    honest.close()
    await proxy.stop()
  })
  return { index, honest: honest.index, proxy, run }
}

function only(operation: string, fault: Fault, times = 1): ChooseFault {
  let left = times
  return (seen) => (seen.operation === operation && left-- > 0 ? fault : undefined)
}

describe('a commit', () => {
  it('keeps long requirements beside the head, and gives them back with it', async () => {
    const { index, run, proxy } = await indexBehind()
    const long = Array.from({ length: 64 }, (_, n) => `${n}`.padEnd(128, 'r'))
    for (const requires of [long, ['gpu'], [...long].reverse(), []]) {
      expect(await index.commit(run, { epoch: 1 }, { set: { requires } })).toBe(true)
      expect((await index.head(run))?.requires).toEqual(requires)
      expect((await index.heads([run, run])).map((head) => head?.requires)).toEqual([requires, requires])
    }
    expect(proxy.operations.get('PutItem')).toBe(2)
  })

  it('takes a merge of 64 extents while appends go on', async () => {
    const { index, run } = await indexBehind()
    const starts = Array.from({ length: 64 }, (_, n) => n * 10)
    const extents = Object.fromEntries(starts.map((start) => [name(start), extent(10)]))
    await index.commit(run, {}, { set: { tail: 640 }, extents })
    await index.commit(run, { tail: 640 }, { set: { tail: 650 }, add: { [name(640)]: extent(10) } })
    const change = { set: {}, drop: Object.keys(extents), add: { [name(0)]: extent(640) } }
    expect(await index.commit(run, { extents }, change)).toBe(true)
    expect((await index.head(run))?.extents).toEqual({ [name(0)]: extent(640), [name(640)]: extent(10) })
  })

  it('takes a head of 512 extents', async () => {
    const { index, run } = await indexBehind()
    const extents = Object.fromEntries(Array.from({ length: 512 }, (_, n) => [name(n * 10), extent(10)]))
    expect(await index.commit(run, {}, { set: {}, extents })).toBe(true)
    expect((await index.head(run))?.extents).toEqual(extents)
  })
})

describe('a commit under faults', () => {
  const append = { set: { tail: 10 }, add: { [name(0)]: extent(10) } }

  it.each<Fault>(['drop_request', 'error_before', 'slow_down', 'delay'])(
    'that did not happen at first is made by a repeat: %s',
    async (fault) => {
      const { index, run } = await indexBehind(only('UpdateItem', fault))
      expect(await index.commit(run, { tail: 0 }, append)).toBe(true)
      expect((await index.head(run))?.tail).toBe(10)
    },
  )

  it.each<Fault>(['drop_answer', 'cut_answer', 'error_after'])(
    'whose answer was lost is known by its stamp, although its repeat is refused: %s',
    async (fault) => {
      for (const times of [1, 100]) {
        const { index, run } = await indexBehind(only('UpdateItem', fault, times))
        expect(await index.commit(run, { tail: 0 }, append)).toBe(true)
        expect((await index.head(run))?.tail).toBe(10)
      }
    },
  )

  it('whose answer was lost and that was built upon since is neither made nor refused', async () => {
    const others = portsOf(standIns)
    let tries = 0
    const { index, run } = await indexBehind(async ({ operation }) => {
      if (operation !== 'UpdateItem') return undefined
      if (tries++ === 0) return 'drop_answer'
      await others.index.commit(run, { tail: 10 }, { set: { tail: 20 } })
      return undefined
    })
    await expect(index.commit(run, { tail: 0 }, append)).rejects.toMatchObject({ code: 'unavailable' })
    expect((await index.head(run))?.tail).toBe(20)
    others.close()
  })

  it.each<[Fault, string]>([
    ['conflict', 'unavailable'],
    ['error_before', 'unavailable'],
    ['drop_request', 'unavailable'],
    ['slow_down', 'slow_down'],
  ])('that is never let through fails: %s is %s', { timeout: 20_000 }, async (fault, code) => {
    const { index, run } = await indexBehind(only('UpdateItem', fault, 100))
    await expect(index.commit(run, { tail: 0 }, append)).rejects.toMatchObject({ code })
    expect((await index.head(run))?.tail).toBe(0)
  })

  it('stands when its card cannot be written', async () => {
    const { index, run } = await indexBehind(only('PutItem', 'error_before', 100))
    expect(await index.commit(run, { tail: 0 }, append, cardRow(run, { tail: 10 }))).toBe(true)
    expect((await index.head(run))?.tail).toBe(10)
    expect(await index.card(run)).toBeUndefined()
  })
})

describe('cards', () => {
  it('do not come back once taken out, however late their writer is', async () => {
    const { index, run } = await indexBehind()
    const write = (life: number, tail: number) =>
      index.commit(run, {}, { set: {} }, cardRow(run, { life, tail }))
    await write(3, 0)
    await index.removeCard(run, 3)
    await write(3, 1)
    expect(await index.card(run)).toBeUndefined()
    expect(await index.cards(run.tenant, { order: 'asc', limit: 10 })).toEqual([])
    await write(4, 0)
    expect(await index.card(run)).toEqual(cardRow(run, { life: 4 }))
  })

  it('are walked in order over all shards, each once, while others come and go', async () => {
    const { index, run } = await indexBehind()
    const rows = Array.from({ length: 60 }, (_, n) =>
      cardRow({ ...run, run_id: `r${(n * 37) % 60}` }, { created_at: now + Math.floor(n / 3) }),
    )
    await Promise.all(rows.map((row) => index.commit(run, {}, { set: {} }, row)))
    const place = (row: CardRow) => ({ created_at: row.created_at, run_id: row.run.run_id })
    const key = (row: CardRow) => `${row.created_at} ${row.run.run_id}`
    const sorted = rows.map(key).sort()
    for (const order of ['asc', 'desc'] as const) {
      const walked: CardRow[] = []
      for (;;) {
        const last = walked.at(-1)
        const after = last && { after: place(last) }
        const page = await index.cards(run.tenant, { order, limit: 7, ...after })
        walked.push(...page)
        if (page.length < 7) break
        const stranger = { ...run, run_id: `new-${order}-${walked.length}` }
        await index.commit(
          run,
          {},
          { set: {} },
          cardRow(stranger, { created_at: order === 'asc' ? 0 : now * 2 }),
        )
      }
      const mine = walked.map(key).filter((text) => text.includes(' r'))
      expect(mine).toEqual(order === 'asc' ? sorted : sorted.reverse())
    }
  })
})

describe('the due list', () => {
  it('names runs that are due, earliest first, until their time is taken away', async () => {
    const { index, run } = await indexBehind()
    // Runs of other tests are due later than these.
    const runs = Array.from({ length: 12 }, (_, n) => ({ ...run, run_id: `due-${n}` }))
    for (const [n, due] of runs.entries()) {
      await index.commit(due, { absent: true }, { set: { ...head, due_at: 100 - n }, extents: {} })
    }
    expect(await index.due(88, 10)).toEqual([])
    expect(await index.due(95, 10)).toEqual(runs.slice(5).reverse())
    expect(await index.due(95, 2)).toEqual([runs[11], runs[10]])
    for (const due of runs) await index.commit(due, {}, { set: { due_at: null } })
    expect(await index.due(100, 10)).toEqual([])
  })
})

describe('many heads', () => {
  it('are read a hundred at a time, the same one once', async () => {
    const { index, run } = await indexBehind()
    const runs = Array.from({ length: 230 }, (_, n) => ({
      ...run,
      run_id: n % 3 === 0 ? 'run-1' : `absent-${n}`,
    }))
    const heads = await index.heads(runs)
    expect(heads.map((found) => found?.life)).toEqual(runs.map((r) => (r.run_id === 'run-1' ? 1 : undefined)))
  })
})
