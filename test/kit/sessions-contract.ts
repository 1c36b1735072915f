import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { SessionKey } from '#schema'
import type { ClosedGeneration, FileItem, SessionHead, StorePorts } from '#store'

const HEAD: SessionHead = {
  version: 1,
  life: 1,
  alive: true,
  revision: 3,
  sweep: 2,
  archived_at: 1_790_000_000_000,
  created_at: 1_790_000_000_000,
  changed_at: 1_790_000_000_001,
  derived: {
    parser: '1',
    revision: 3,
    bytes: 10,
    sha256: 'cd'.repeat(32),
    problems: 0,
    ancestors: [{ session: 'parent', path: 'p.jsonl', generation: 1, tail: 5, digest: 'ef'.repeat(32) }],
    state: { key: 'state', offset: 7, bytes: 9 },
    document: null,
  },
  entry: '{\n  "title": "ü🚀 \\u0000"\n}',
  file_count: 2,
  raw_bytes: 2 ** 53 - 1,
  pending: 0,
  listed_at: 1_790_000_000_000,
  due_at: 1_790_000_060_000,
  sweep_at: null,
}

const FILE: FileItem = {
  version: 1,
  generation: 1,
  sweep: 0,
  tail: 100,
  digest: 'ab'.repeat(32),
  hash_state: '1:AAAA',
  extents: {
    '0000000000000000': { length: 60, hash: '0123456789abcdef', sweep: 0, at: 1_790_000_000_000 },
    '0000000000000060': { length: 40, hash: 'x123456789abcdef', sweep: 2, at: 1_790_000_000_001 },
  },
  first_at: 1_790_000_000_000,
  last_at: 1_790_000_000_001,
  derived: null,
}

const { sweep: _, hash_state: __, derived: ___, ...CLOSED } = { ...FILE, version: 4 }

const all = async <T>(items: AsyncIterable<T>) => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** What session-index.ts promises, held against one store. */
export function sessionsContract(ports: () => StorePorts): void {
  let session: SessionKey
  const fresh = (more: Partial<SessionKey> = {}) => {
    session = {
      tenant: `t-${randomUUID()}`,
      machine: 'box',
      harness: 'codex',
      id: `id/${randomUUID()} ü#🚀`,
      ...more,
    }
    return session
  }
  const index = () => ports().sessions
  const place = (path: string, life = 1) => ({ life, path })

  describe('sessions', () => {
    it('give back heads as they were written', async () => {
      fresh()
      expect(await index().head(session)).toBeUndefined()
      expect(await index().putHead(session, HEAD)).toBe(true)
      expect(await index().head(session)).toEqual(HEAD)
      const other = { ...session, machine: 'other' }
      expect(await index().heads([other, session])).toEqual([undefined, HEAD])
    })

    it('replace an item only where its predecessor stands', async () => {
      fresh()
      expect(await index().putHead(session, { ...HEAD, version: 2 })).toBe(false)
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, revision) => index().putHead(session, { ...HEAD, revision })),
      )
      expect(made.filter(Boolean)).toHaveLength(1)
      expect(await index().putHead(session, { ...HEAD, version: 2, revision: 99 })).toBe(true)
      expect(await index().putHead(session, { ...HEAD, version: 2, revision: 100 })).toBe(false)
      expect((await index().head(session))?.revision).toBe(99)
      for (const version of [1, 2, 2, 1, 4, 3]) {
        const before = (await index().file(session, place('a')))?.version ?? 0
        const file = { ...FILE, version }
        expect(await index().putFile(session, place('a'), file)).toBe(version === before + 1)
      }
      expect(await index().file(session, place('a'))).toEqual({ ...FILE, version: 3 })
    })

    it('tell files apart by life and by every byte of their path', async () => {
      fresh()
      const paths = ['a', 'A', 'ü', 'u\u0308', 'a/b', 'a#b', '__proto__', '日本/🚀', 'x'.repeat(512)]
      for (const [tail, path] of paths.entries())
        await index().putFile(session, place(path), { ...FILE, tail })
      await index().putFile(session, place('a', 2), { ...FILE, tail: 77 })
      const found = await all(index().files(session, 1))
      expect(found.map(({ path }) => path).toSorted()).toEqual(paths.toSorted())
      for (const { path, file } of found) expect(file).toEqual({ ...FILE, tail: paths.indexOf(path) })
      expect(await all(index().files(session, 2))).toEqual([{ path: 'a', file: { ...FILE, tail: 77 } }])
      expect(await all(index().files({ ...session, machine: 'bo' }, 1))).toEqual([])
    })

    it('keep closed generations in order and never let an older version replace one', async () => {
      fresh()
      const put = (path: string, more: Partial<ClosedGeneration>) =>
        index().putClosed(session, place(path), { ...CLOSED, ...more })
      await put('b', { generation: 10 })
      await put('b', { generation: 2 })
      await put('a#b', { generation: 1 })
      await put('b', { generation: 2, version: 5, tail: 5 })
      await put('b', { generation: 2, version: 4, tail: 4 })
      expect(await index().closed(session, place('b'), 2)).toMatchObject({ tail: 5, version: 5 })
      expect(await index().closed(session, place('b'), 3)).toBeUndefined()
      const found = await all(index().closedGenerations(session, 1))
      expect(found.map(({ path, closed }) => [path, closed.generation])).toEqual([
        ['a#b', 1],
        ['b', 2],
        ['b', 10],
      ])
      expect(found[2]?.closed).toEqual({ ...CLOSED, generation: 10 })
    })

    it('forget what belongs to lives before one, and nothing else', async () => {
      fresh()
      const other = { ...session, machine: 'box2' }
      for (const key of [session, other]) {
        for (const life of [1, 2, 3, 11]) {
          for (let n = 0; n < 30; n++) await index().putFile(key, place(`f${n}`, life), FILE)
          await index().putClosed(key, place('f0', life), CLOSED)
        }
      }
      await index().forgetFiles(session, 3)
      const counts = async (key: SessionKey) =>
        Promise.all(
          [1, 2, 3, 11].map(async (life) => [
            (await all(index().files(key, life))).length,
            (await all(index().closedGenerations(key, life))).length,
          ]),
        )
      const kept = [30, 1]
      expect(await counts(session)).toEqual([[0, 0], [0, 0], kept, kept])
      expect(await counts(other)).toEqual([kept, kept, kept, kept])
    })

    it('name the machines of one id', async () => {
      fresh()
      const { tenant, harness, id } = session
      for (const machine of ['b', 'a']) await index().putHead({ ...session, machine }, HEAD)
      await index().putHead({ ...session, machine: 'c', id: `${id}x` }, HEAD)
      await index().putHead({ ...session, machine: 'd', harness: 'kimi-code' }, HEAD)
      expect(await index().machines(tenant, harness, id)).toEqual(['a', 'b'])
      expect(await index().machines(`${tenant}x`, harness, id)).toEqual([])
    })

    it('are listed newest first and walked page by page', async () => {
      fresh()
      const made = [
        ['a', 5],
        ['c', 9],
        ['b', 5],
        ['d', null],
        ['e', 1_790_000_000_000],
      ] as const
      for (const [machine, listed_at] of made)
        await index().putHead({ ...session, machine }, { ...HEAD, listed_at })
      await index().putHead({ ...session, machine: 'c' }, { ...HEAD, version: 2, listed_at: 4 })
      for (const limit of [1, 2, 3, 9]) {
        const seen: string[] = []
        for (let page = await index().list(session.tenant, undefined, limit); page.length > 0; ) {
          expect(page.length).toBeLessThanOrEqual(limit)
          seen.push(...page.map((row) => row.session.machine))
          const last = page.at(-1)
          const listed_at = last?.head.listed_at as number
          page = await index().list(session.tenant, last && { session: last.session, listed_at }, limit)
        }
        expect(seen).toEqual(['e', 'b', 'a', 'c'])
      }
      const [row] = await index().list(session.tenant, undefined, 1)
      expect(row).toEqual({ session: { ...session, machine: 'e' }, head: HEAD })
    })

    it('are due in order of their times, and found one after the other', async () => {
      fresh()
      const at = (machine: string) => ({ ...session, machine })
      const times = [
        ['a', -3],
        ['b', -5],
        ['c', null],
        ['d', 2 ** 50],
      ] as const
      for (const [machine, due_at] of times) await index().putHead(at(machine), { ...HEAD, due_at })
      const due = (await index().due(0, 1000)).filter(({ tenant }) => tenant === session.tenant)
      expect(due).toEqual([at('b'), at('a')])
      const every: SessionKey[] = []
      for (let page = await index().everySession(undefined, 3); page.length > 0; ) {
        every.push(...page)
        page = await index().everySession(page.at(-1), 3)
      }
      const mine = every.filter(({ tenant }) => tenant === session.tenant)
      expect(mine.map(({ machine }) => machine).toSorted()).toEqual(['a', 'b', 'c', 'd'])
    })
  })
}
