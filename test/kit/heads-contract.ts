import { describe, expect, it } from 'vitest'
import type { RunKey } from '#schema'
import type { CardRow, Expectation, Head, HeadChange, StorePorts } from '#store'
import { HEAD, namesOfATest, whole } from './contract-samples.ts'

/** What ports.ts promises of heads, the due list and the walk over all runs, held against one store. */
export function headsContract(ports: () => StorePorts): void {
  const { fresh, run, tenant } = namesOfATest()

  describe('heads', () => {
    const commit = (key: RunKey, expect: Expectation, change: HeadChange, card?: CardRow) =>
      ports().index.commit(key, expect, change, card)
    const head = (key: RunKey) => ports().index.head(key)

    it('come back as they were written, to the last digit', async () => {
      const key = fresh()
      expect(await head(key)).toBeUndefined()
      expect(await commit(key, { absent: true }, whole(HEAD))).toBe(true)
      expect(await head(key)).toEqual(HEAD)
      const bare = {
        ...HEAD,
        lease: null,
        holder: null,
        previous: null,
        headed: null,
        due_at: null,
        claim_at: null,
        sweep_at: null,
        requires: [],
        origin: null,
      }
      expect(await commit(key, {}, whole({ ...bare, extents: {} }))).toBe(true)
      expect(await head(key)).toEqual({ ...bare, extents: {} })
    })

    it('are made by one of many', async () => {
      const key = fresh()
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, epoch) => commit(key, { absent: true }, whole({ ...HEAD, epoch }))),
      )
      expect(made.filter(Boolean)).toHaveLength(1)
      expect((await head(key))?.epoch).toBe(made.indexOf(true))
    })

    it('keep every member that a change does not name', async () => {
      const key = fresh()
      await commit(key, { absent: true }, whole(HEAD))
      expect(await commit(key, { alive: true }, { set: { tail: 101, due_at: null } })).toBe(true)
      expect(await head(key)).toEqual({ ...HEAD, tail: 101, due_at: null })
      expect(await commit(key, { due_at: null }, { set: { due_at: 5, lease: null } })).toBe(true)
      expect(await head(key)).toEqual({ ...HEAD, tail: 101, due_at: 5, lease: null })
    })

    it('gain and lose extents in one change', async () => {
      const key = fresh()
      await commit(key, { absent: true }, whole(HEAD))
      const third = { length: 5, hash: 'fedcba9876543210', sweep: 2, at: 7 }
      await commit(key, {}, { set: {}, add: { '0000000000000100': third } })
      expect((await head(key))?.extents).toEqual({ ...HEAD.extents, '0000000000000100': third })
      // A merge drops its sources and adds its output under the name of the first.
      const merged = { length: 100, hash: 'x23456789abcdef0', sweep: 2, at: 8 }
      const drop = Object.keys(HEAD.extents)
      await commit(key, { extents: HEAD.extents }, { set: {}, drop, add: { '0000000000000000': merged } })
      expect((await head(key))?.extents).toEqual({ '0000000000000000': merged, '0000000000000100': third })
      await commit(key, {}, { set: {}, extents: { '0000000000000000': third } })
      expect((await head(key))?.extents).toEqual({ '0000000000000000': third })
    })

    const first = HEAD.extents['0000000000000000'] as Head['extents'][string]
    const failing: [string, Expectation][] = [
      ['a head where none may be', { absent: true }],
      ['another life', { life: 2 }],
      ['no tombstone', { alive: false }],
      ['another epoch', { epoch: 2 }],
      ['another tail', { tail: 99 }],
      ['another generation', { sweep: 3 }],
      ['a holder', { held: false }],
      ['another expiry', { lease_expires_at: 1 }],
      ['a lease where none may be', { lease_expires_at: null }],
      ['another due time', { due_at: 1 }],
      ['a due time where none may be', { due_at: null }],
      ['no such extent', { extents: { '0000000000000001': first } }],
      ['an extent of another length', { extents: { '0000000000000000': { ...first, length: 61 } } }],
      ['an extent of another hash', { extents: { '0000000000000000': { ...first, hash: 'f'.repeat(16) } } }],
      ['an extent of another generation', { extents: { '0000000000000000': { ...first, sweep: 1 } } }],
      ['one thing of many', { life: 1, alive: true, epoch: 3, tail: 100, sweep: 2, held: true, due_at: 7 }],
    ]
    it.each(failing)('stay as they are where there is %s', async (_, expectation) => {
      const key = fresh()
      await commit(key, { absent: true }, whole(HEAD))
      expect(await commit(key, expectation, { set: { tail: 7 } })).toBe(false)
      expect(await head(key)).toEqual(HEAD)
    })

    it('change where all that is expected holds', async () => {
      const key = fresh()
      await commit(key, { absent: true }, whole(HEAD))
      const { life, alive, epoch, tail, sweep, due_at, extents } = HEAD
      const all = {
        life,
        alive,
        epoch,
        tail,
        sweep,
        due_at,
        extents,
        held: true,
        lease_expires_at: 1_790_000_060_000,
      }
      expect(await commit(key, all, { set: { lease: null } })).toBe(true)
      expect(await commit(key, { held: false, lease_expires_at: null }, { set: { tail: 1 } })).toBe(true)
    })

    it('are not made by a change that expects one', async () => {
      const key = fresh()
      for (const expectation of [{ alive: true }, { epoch: 3 }, { held: false }, { due_at: null }]) {
        expect(await commit(key, expectation, whole(HEAD))).toBe(false)
      }
      expect(await head(key)).toBeUndefined()
    })

    it('take one of many changes that expect the same', async () => {
      const key = fresh()
      await commit(key, { absent: true }, whole(HEAD))
      const tries = Array.from({ length: 20 }, (_, i) =>
        commit(key, { tail: 100 }, { set: { tail: 101 + i } }),
      )
      const done = await Promise.all(tries)
      expect(done.filter(Boolean)).toHaveLength(1)
      expect((await head(key))?.tail).toBe(101 + done.indexOf(true))
    })

    it('come in the order they were asked for', async () => {
      fresh()
      for (const [i, id] of ['b', 'a', 'c'].entries())
        await commit(run(id), { absent: true }, whole({ ...HEAD, epoch: i }))
      const found = await ports().index.heads([run('c'), run('none'), run('a'), run('b'), run('a')])
      expect(found.map((found) => found?.epoch)).toEqual([2, undefined, 1, 0, 1])
      expect(await ports().index.heads([])).toEqual([])
    })
  })

  describe('the due list', () => {
    const own = async (now: number) => {
      const due = await ports().index.due(now, 1000)
      return due.filter((key) => key.tenant === tenant()).map((key) => key.run_id)
    }
    it('names what is due, earliest first, until it is cleared', async () => {
      fresh()
      for (const [id, due_at] of [
        ['late', 300],
        ['soon', 100],
        ['then', 200],
        ['never', null],
      ] as const) {
        await ports().index.commit(run(id), { absent: true }, whole({ ...HEAD, due_at }))
      }
      expect(await own(99)).toEqual([])
      expect(await own(200)).toEqual(['soon', 'then'])
      expect(await own(1000)).toEqual(['soon', 'then', 'late'])
      await ports().index.commit(run('soon'), { due_at: 100 }, { set: { due_at: null } })
      await ports().index.commit(run('late'), { due_at: 300 }, { set: { due_at: 150 } })
      expect(await own(1000)).toEqual(['late', 'then'])
      expect(await ports().index.due(1000, 1)).toHaveLength(1)
    })
  })

  describe('the waiting runs', () => {
    const own = async (until: number, limit = 1000) =>
      (await ports().index.waiting(tenant(), until, limit)).map(({ run }) => run.run_id)
    const make = (id: string, more: Partial<Head>) =>
      ports().index.commit(run(id), { absent: true }, whole({ ...HEAD, ...more }))

    it('are those of the tenant whose time has come, earliest first, until it moves', async () => {
      const other = fresh()
      await ports().index.commit(other, { absent: true }, whole({ ...HEAD, claim_at: 1 }))
      fresh()
      const times = { late: 300, soon: 100, later: 200, never: null }
      for (const [id, claim_at] of Object.entries(times)) await make(id, { claim_at })
      expect(await own(99)).toEqual([])
      expect(await own(200)).toEqual(['soon', 'later'])
      expect(await own(1000)).toEqual(['soon', 'later', 'late'])
      expect(await own(1000, 2)).toEqual(['soon', 'later'])
      await ports().index.commit(run('soon'), {}, { set: { claim_at: null } })
      await ports().index.commit(run('late'), {}, { set: { claim_at: 150 } })
      await ports().index.commit(run('later'), {}, { set: { tail: 101 } })
      expect(await own(1000)).toEqual(['late', 'later'])
    })

    it('tell what they require, or leave that to the head', async () => {
      fresh()
      const long = Array.from({ length: 64 }, (_, n) => `${n}`.padEnd(128, 'x'))
      const wanted = { none: [], few: ['gpu', 'docker "ü"'], many: long }
      for (const [at, [id, requires]] of Object.entries(wanted).entries()) {
        await make(id, { claim_at: at, requires })
      }
      const found = await ports().index.waiting(tenant(), 1000, 10)
      expect(found.slice(0, 2).map(({ requires }) => requires)).toEqual([[], wanted.few])
      expect([undefined, long]).toContainEqual(found[2]?.requires)
    })
  })

  describe('every run', () => {
    it('is seen once in a walk, tombstones too', async () => {
      fresh()
      const ids = ['a', 'A', 'b', 'a-b', 'a.b']
      for (const id of ids) {
        await ports().index.commit(
          run(id),
          { absent: true },
          whole({ ...HEAD, alive: id !== 'b', due_at: null }),
        )
      }
      const seen: RunKey[] = []
      let page = await ports().index.everyRun(undefined, 3)
      while (page.length > 0) {
        seen.push(...page)
        page = await ports().index.everyRun(page.at(-1), 3)
      }
      const own = seen.filter((key) => key.tenant === tenant()).map((key) => key.run_id)
      expect(own.toSorted()).toEqual(ids.toSorted())
    })
  })
}
