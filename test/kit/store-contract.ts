import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunKey } from '#schema'
import type { ByteRange, CardRow, Expectation, Head, HeadChange, StoredToken, StorePorts } from '#store'
import { uploadsContract } from './uploads-contract.ts'

export interface OpenedPorts {
  readonly ports: StorePorts
  close?(): unknown
}

const bytesOf = (text: string) => new TextEncoder().encode(text)
const MiB = 1024 * 1024
const HASH = '0123456789abcdef'

const HEAD: Head = {
  life: 1,
  alive: true,
  epoch: 3,
  sweep: 2,
  lease: { machine_id: 'm', world_id: 'w', ttl_s: 60, expires_at: 1_790_000_060_000 },
  holder: { epoch: 3, machine_id: 'm', world_id: 'w', from: '2026-11-30T00:00:00.000Z', reason: 'acquired' },
  previous: { machine_id: 'm0', world_id: 'w0' },
  requires: ['gpu'],
  tail: 100,
  frames: 7,
  points: 2,
  unreadable: 1,
  digest: 'ab'.repeat(32),
  hash_state: '1:AAAA',
  headed: true,
  ticks: {
    current_stage: 'build',
    iteration: 2n ** 64n - 1n,
    prompt_tokens: 0,
    completion_tokens: 5,
    cached_tokens: null,
    cache_write_tokens: 1,
    tool_calls: 9,
    updated_at: -(2n ** 63n),
  },
  card_tail: 60,
  ended: false,
  extents: {
    '0000000000000000': { length: 60, hash: HASH, sweep: 0, at: 1_790_000_000_000 },
    '0000000000000060': { length: 40, hash: HASH, sweep: 2, at: 1_790_000_000_001 },
  },
  snapshot: null,
  due_at: 1_790_000_060_000,
  created_at: 1_790_000_000_000,
  changed_at: 1_790_000_000_002,
}

function whole({ extents, ...set }: Head): HeadChange {
  return { set, extents }
}

/** Every promise of ports.ts, held against one pair of adapters. `open` is called once; each test uses names of its own. */
export function storeContract(name: string, open: () => Promise<OpenedPorts>): void {
  describe(`the store contract on ${name}`, () => {
    let opened: OpenedPorts
    let tenant: string
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close?.())

    /** A run nobody else uses; runs of one test share a tenant. */
    const fresh = () => {
      tenant = `t-${randomUUID()}`
      return run('run')
    }
    const run = (run_id: string): RunKey => ({ tenant, run_id })
    const prefix = (key: RunKey) => `runs/${key.tenant}/${key.run_id}/`

    uploadsContract(() => opened.ports)

    describe('objects', () => {
      const objects = () => opened.ports.objects
      /** Without its class: a Buffer is as good. */
      const read = async (key: string, range?: ByteRange) => {
        const bytes = await objects().get(key, range)
        return bytes && new Uint8Array(bytes)
      }
      const listed = async (start: string) => {
        const keys: string[] = []
        for await (const { key } of objects().list(start)) keys.push(key)
        return keys
      }

      it('gives back the bytes of all chunks, and any range of them', async () => {
        const key = `${prefix(fresh())}a`
        await objects().put(key, [bytesOf('abc'), bytesOf(''), bytesOf('defgh')], {})
        expect(await read(key)).toEqual(bytesOf('abcdefgh'))
        expect(await read(key, { start: 0, end: 8 })).toEqual(bytesOf('abcdefgh'))
        expect(await read(key, { start: 2, end: 5 })).toEqual(bytesOf('cde'))
        expect(await read(key, { start: 7, end: 8 })).toEqual(bytesOf('h'))
      })

      it('never gives fewer bytes than asked for', async () => {
        const key = `${prefix(fresh())}a`
        await objects().put(key, [bytesOf('abc')], {})
        await expect(objects().get(key, { start: 0, end: 4 })).rejects.toThrow()
        await expect(objects().get(key, { start: 5, end: 6 })).rejects.toThrow()
      })

      it('says undefined of what is absent', async () => {
        const key = `${prefix(fresh())}absent`
        expect(await read(key)).toBeUndefined()
        expect(await read(key, { start: 0, end: 1 })).toBeUndefined()
        expect(await objects().facts(key)).toBeUndefined()
        await objects().remove([key])
        expect(await listed(prefix(run('run')))).toEqual([])
      })

      it('does not mind the same put again', async () => {
        const key = `${prefix(fresh())}a`
        for (let i = 0; i < 2; i++) await objects().put(key, [bytesOf('same')], { epoch: '1' })
        expect(await read(key)).toEqual(bytesOf('same'))
        expect(await listed(prefix(run('run')))).toEqual([key])
      })

      it('keeps the facts beside the object', async () => {
        const key = `${prefix(fresh())}a`
        const facts = { epoch: '12', 'digest-before': 'ab'.repeat(32) }
        await objects().put(key, [bytesOf('x')], facts)
        expect(await objects().facts(key)).toEqual(facts)
        await objects().compose(`${key}2`, [{ bytes: bytesOf('y') }], { offset: '0' })
        expect(await objects().facts(`${key}2`)).toEqual({ offset: '0' })
      })

      it('composes small copies and bytes in order', async () => {
        const base = prefix(fresh())
        await objects().put(`${base}a`, [bytesOf('0123456789')], {})
        await objects().put(`${base}b`, [bytesOf('abcdef')], {})
        const parts = [
          { copy: `${base}b`, range: { start: 2, end: 6 } },
          { bytes: bytesOf('-') },
          { copy: `${base}a`, range: { start: 0, end: 10 } },
          { copy: `${base}a`, range: { start: 9, end: 10 } },
        ]
        for (let i = 0; i < 2; i++) await objects().compose(`${base}c`, parts, {})
        expect(await read(`${base}c`)).toEqual(bytesOf('cdef-01234567899'))
      })

      it('composes parts of many megabytes between small ones', async () => {
        const base = prefix(fresh())
        const [one, two] = [randomBytes(6 * MiB), randomBytes(5 * MiB + 1)]
        await objects().put(`${base}one`, [one], {})
        const small = bytesOf('small')
        await objects().compose(
          `${base}all`,
          [
            { bytes: small },
            { copy: `${base}one`, range: { start: 0, end: one.length } },
            { bytes: small },
            { bytes: two },
            { copy: `${base}one`, range: { start: 1, end: one.length - 1 } },
            { bytes: small },
          ],
          {},
        )
        const want = Buffer.concat([small, one, small, two, one.subarray(1, -1), small])
        const got = await read(`${base}all`)
        expect(got && Buffer.compare(got, want)).toBe(0)
      })

      it('refuses to compose from what is gone, and leaves nothing behind', async () => {
        const base = prefix(fresh())
        const parts = [{ bytes: bytesOf('x') }, { copy: `${base}gone`, range: { start: 0, end: 1 } }]
        await expect(objects().compose(`${base}c`, parts, {})).rejects.toMatchObject({ code: 'not_found' })
        expect(await read(`${base}c`)).toBeUndefined()
      })

      it('lists what begins so, in key order, with lengths and times', async () => {
        const key = fresh()
        const before = Date.now()
        for (const name of ['b', 'c', 'a'])
          await objects().put(prefix(key) + name, [bytesOf(name.repeat(3))], {})
        for (const run_id of ['run2', 'Run', 'ru'])
          await objects().put(`${prefix(run(run_id))}z`, [bytesOf('z')], {})
        const found = []
        for await (const object of objects().list(prefix(key))) found.push(object)
        expect(found.map(({ key }) => key)).toEqual(['a', 'b', 'c'].map((name) => prefix(key) + name))
        for (const { length, stored_at } of found) {
          expect(length).toBe(3)
          expect(Math.abs(stored_at - before)).toBeLessThan(60_000)
        }
        expect(await listed(`${prefix(key)}b`)).toEqual([`${prefix(key)}b`])
      })

      it('tells keys apart that differ in upper and lower case alone', async () => {
        fresh()
        const ids = [
          'case',
          'CASE',
          'Case',
          'casE',
          `${'X'.repeat(128)}`,
          `${'x'.repeat(128)}`,
          'dot.',
          'dot',
        ]
        for (const id of ids) await objects().put(`${prefix(run(id))}o`, [bytesOf(id)], {})
        for (const id of ids) expect(await read(`${prefix(run(id))}o`)).toEqual(bytesOf(id))
        const keys = (await listed(`runs/${tenant}/`)).toSorted()
        expect(keys).toEqual(ids.map((id) => `${prefix(run(id))}o`).toSorted())
      })

      it('removes what is named and nothing else', async () => {
        const base = prefix(fresh())
        for (const name of ['a', 'b', 'c']) await objects().put(base + name, [bytesOf(name)], {})
        await objects().remove([`${base}a`, `${base}c`, `${base}never`])
        expect(await listed(base)).toEqual([`${base}b`])
        expect(await objects().facts(`${base}a`)).toBeUndefined()
      })
    })

    describe('heads', () => {
      const commit = (key: RunKey, expect: Expectation, change: HeadChange, card?: CardRow) =>
        opened.ports.index.commit(key, expect, change, card)
      const head = (key: RunKey) => opened.ports.index.head(key)

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
          requires: [],
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
        [
          'an extent of another hash',
          { extents: { '0000000000000000': { ...first, hash: 'f'.repeat(16) } } },
        ],
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
        const found = await opened.ports.index.heads([run('c'), run('none'), run('a'), run('b'), run('a')])
        expect(found.map((found) => found?.epoch)).toEqual([2, undefined, 1, 0, 1])
        expect(await opened.ports.index.heads([])).toEqual([])
      })
    })

    describe('cards', () => {
      const index = () => opened.ports.index
      const row = (key: RunKey, more: Partial<CardRow> = {}): CardRow => ({
        run: key,
        life: 1,
        tail: 60,
        created_at: 1_790_000_000_000,
        workdir: '/work',
        card: {
          run_id: key.run_id,
          agent_name: 'agent ü🚀',
          title: null,
          task: 'a task',
          status: 'running',
          model: 'm/x',
          parent_run_id: null,
          machine_id: 'machine',
          world_id: 'world',
          started_at: 2n ** 62n,
          error: null,
        },
        ...more,
      })
      const write = (card: CardRow) => index().commit(card.run, {}, { set: {} }, card)
      const make = async (key: RunKey, more: Partial<CardRow> = {}) => {
        await index().commit(key, { absent: true }, whole(HEAD), row(key, more))
        return key
      }

      it('are written with the head and come back exactly', async () => {
        const key = fresh()
        expect(await index().card(key)).toBeUndefined()
        await make(key)
        expect(await index().card(key)).toEqual(row(key))
        expect(await index().cards(tenant, { order: 'asc', limit: 9 })).toEqual([row(key)])
      })

      it('are not written when the head is not', async () => {
        const key = await make(fresh())
        expect(await index().commit(key, { epoch: 99 }, { set: {} }, row(key, { tail: 99 }))).toBe(false)
        expect(await index().card(key)).toEqual(row(key))
      })

      it('never go back to an older tail or life', async () => {
        const key = await make(fresh())
        for (const [life, tail] of [
          [1, 80],
          [1, 70],
          [3, 6],
          [2, 999],
          [3, 6],
        ] as const)
          await write(row(key, { life, tail }))
        expect(await index().card(key)).toEqual(row(key, { life: 3, tail: 6 }))
      })

      it('are taken out of the listing with their life', async () => {
        const key = await make(fresh(), { life: 4 })
        await index().removeCard(key, 3)
        expect(await index().card(key)).toBeDefined()
        await index().removeCard(key, 4)
        expect(await index().card(key)).toBeUndefined()
        expect(await index().cards(tenant, { order: 'desc', limit: 9 })).toEqual([])
        await index().removeCard(key, 4)
      })

      it('stand in order of creation, then of name, and go on after any place', async () => {
        fresh()
        const made: [string, number][] = [
          ['b', 5],
          ['a', 5],
          ['c', 5],
          ['z', 4],
          ['d', 6],
          ['A', 5],
          ['e', 1_790_000_000_000],
        ]
        for (const [id, created_at] of made) await make(run(id), { created_at })
        const want = ['z', 'A', 'a', 'b', 'c', 'd', 'e']
        for (const order of ['asc', 'desc'] as const) {
          const ordered = order === 'asc' ? want : want.toReversed()
          for (const limit of [1, 2, 7, 100]) {
            const seen: string[] = []
            for (let page = await index().cards(tenant, { order, limit }); page.length > 0; ) {
              expect(page.length).toBeLessThanOrEqual(limit)
              seen.push(...page.map((card) => card.run.run_id))
              const last = page.at(-1) as CardRow
              const after = { created_at: last.created_at, run_id: last.run.run_id }
              page = await index().cards(tenant, { order, limit, after })
            }
            expect(seen).toEqual(ordered)
          }
        }
        const after = { created_at: 5, run_id: '' }
        const later = await index().cards(tenant, { order: 'asc', limit: 9, after })
        expect(later.map((card) => card.run.run_id)).toEqual(['A', 'a', 'b', 'c', 'd', 'e'])
      })

      it('of other tenants are not seen', async () => {
        await make(fresh())
        const other = tenant
        await make(fresh())
        expect(await index().cards(other, { order: 'asc', limit: 9 })).toHaveLength(1)
        expect(await index().cards(`${tenant}x`, { order: 'asc', limit: 9 })).toEqual([])
      })
    })

    describe('transfers', () => {
      const transfer = (epoch: number) => ({
        epoch,
        machine_id: `m${epoch}`,
        world_id: 'w',
        from: '2026-11-30T00:00:00.000Z',
        reason: 'forced' as const,
      })
      it('are kept once by epoch, newest first', async () => {
        const key = fresh()
        expect(await opened.ports.index.transfers(key, 10)).toEqual([])
        for (const epoch of [1, 3, 100, 20, 3]) await opened.ports.index.putTransfer(key, transfer(epoch))
        expect(await opened.ports.index.transfers(key, 10)).toEqual([100, 20, 3, 1].map(transfer))
        expect(await opened.ports.index.transfers(key, 2)).toEqual([100, 20].map(transfer))
        expect(await opened.ports.index.transfers(run('other'), 10)).toEqual([])
      })
    })

    describe('the due list', () => {
      const own = async (now: number) => {
        const due = await opened.ports.index.due(now, 1000)
        return due.filter((key) => key.tenant === tenant).map((key) => key.run_id)
      }
      it('names what is due, earliest first, until it is cleared', async () => {
        fresh()
        for (const [id, due_at] of [
          ['late', 300],
          ['soon', 100],
          ['then', 200],
          ['never', null],
        ] as const) {
          await opened.ports.index.commit(run(id), { absent: true }, whole({ ...HEAD, due_at }))
        }
        expect(await own(99)).toEqual([])
        expect(await own(200)).toEqual(['soon', 'then'])
        expect(await own(1000)).toEqual(['soon', 'then', 'late'])
        await opened.ports.index.commit(run('soon'), { due_at: 100 }, { set: { due_at: null } })
        await opened.ports.index.commit(run('late'), { due_at: 300 }, { set: { due_at: 150 } })
        expect(await own(1000)).toEqual(['late', 'then'])
        expect(await opened.ports.index.due(1000, 1)).toHaveLength(1)
      })
    })

    describe('every run', () => {
      it('is seen once in a walk, tombstones too', async () => {
        fresh()
        const ids = ['a', 'A', 'b', 'a-b', 'a.b']
        for (const id of ids) {
          await opened.ports.index.commit(
            run(id),
            { absent: true },
            whole({ ...HEAD, alive: id !== 'b', due_at: null }),
          )
        }
        const seen: RunKey[] = []
        let page = await opened.ports.index.everyRun(undefined, 3)
        while (page.length > 0) {
          seen.push(...page)
          page = await opened.ports.index.everyRun(page.at(-1), 3)
        }
        const own = seen.filter((key) => key.tenant === tenant).map((key) => key.run_id)
        expect(own.toSorted()).toEqual(ids.toSorted())
      })
    })

    describe('tokens', () => {
      const token = (more: Partial<StoredToken> = {}): StoredToken => ({
        token_id: `tok_${randomUUID()}`,
        hash: randomBytes(32).toString('hex'),
        name: 'a name ü',
        tenant,
        scopes: ['append', 'read'],
        run_prefix: null,
        expires_at: null,
        created_at: 5,
        last_used_at: null,
        ...more,
      })

      it('are found by hash and listed by tenant, oldest first', async () => {
        fresh()
        const { tokens } = opened.ports
        const all = [
          token({ created_at: 9 }),
          token({ created_at: 7, expires_at: 8, run_prefix: 'p-' }),
          token({ created_at: 8 }),
        ]
        for (const each of all) await tokens.put(each)
        for (const each of all) expect(await tokens.byHash(each.hash)).toEqual(each)
        expect(await tokens.byHash('0'.repeat(64))).toBeUndefined()
        expect(await tokens.list(tenant)).toEqual([all[1], all[2], all[0]])
        expect(await tokens.list('nobody')).toEqual([])
      })

      it('are removed by their tenant alone', async () => {
        fresh()
        const { tokens } = opened.ports
        const [one, two] = [token(), token({ created_at: 6 })]
        for (const each of [one, two]) await tokens.put(each)
        expect(await tokens.remove('somebody-else', one.token_id)).toBe(false)
        expect(await tokens.byHash(one.hash)).toEqual(one)
        expect(await tokens.remove(tenant, one.token_id)).toBe(true)
        expect(await tokens.remove(tenant, one.token_id)).toBe(false)
        expect(await tokens.byHash(one.hash)).toBeUndefined()
        expect(await tokens.list(tenant)).toEqual([two])
      })

      it('remember when they were used', async () => {
        fresh()
        const { tokens } = opened.ports
        const one = token()
        await tokens.put(one)
        await tokens.touch(one.hash, 77)
        expect(await tokens.byHash(one.hash)).toEqual({ ...one, last_used_at: 77 })
        expect(await tokens.list(tenant)).toEqual([{ ...one, last_used_at: 77 }])
        await tokens.touch('0'.repeat(64), 77)
        expect(await tokens.byHash('0'.repeat(64))).toBeUndefined()
      })
    })
  })
}
