import { expect, it } from 'vitest'
import type { SessionKey } from '#schema'
import { createSessionMaintainer } from '#sessions/archive'
import { all, altered, type Fixture, onEveryStore, utf8 } from './kit.ts'
import { claudeRow, claudeRows } from './rows.ts'

const HOUR = 3_600_000
const hours = async (s: Fixture, count: number) => {
  for (let hour = 0; hour < count; hour++) {
    await s.maintain()
    s.clock.advance(HOUR + 1000)
  }
  await s.maintain()
}

/** Everything that head and files name, as text. */
async function named(s: Fixture): Promise<string> {
  const head = await s.head()
  const names: string[] = [JSON.stringify(head.derived)]
  for await (const { file } of s.ports.sessions.files(s.session, head.life)) names.push(JSON.stringify(file))
  for await (const { closed } of s.ports.sessions.closedGenerations(s.session, head.life)) {
    names.push(JSON.stringify(closed))
  }
  return names.join('\n')
}

async function nothingIsLeftOver(s: Fixture) {
  const names = await named(s)
  for (const key of await s.keys()) {
    const hash = key.slice(key.lastIndexOf('-') + 1)
    expect(names, key).toContain(key.includes('/derived/') ? key : hash)
  }
}

onEveryStore('what a session leaves', (open) => {
  it('5: is nothing that is not named, once the grace is over', async () => {
    const s = open()
    await s.append('sid/subagents/agent-a.jsonl', claudeRows(0, 3))
    await s.append('sid.jsonl', claudeRows(0, 2))
    for (let n = 2; n < 60; n++) {
      await s.add('sid.jsonl', claudeRow(n))
      if (n % 20 === 0) await s.document('a')
      if (n % 20 === 5) await s.add('sid/subagents/agent-a.jsonl', claudeRow(n))
      if (n % 20 === 10) await s.append('state', `${n}`, { generation: 1 + (n - 10) / 20 })
      if (n % 30 === 0) await s.maintain()
    }
    await s.document('a')
    await s.document()
    await hours(s, 4)
    await nothingIsLeftOver(s)
    await s.exact()
    await s.exact('a')
    expect(await s.raw('sid.jsonl')).toBe(claudeRows(0, 60))
  })

  it('is not taken from a writer who stalls between storing and committing, nor from who reads meanwhile', async () => {
    const s = open()
    await s.append('f', 'begin ')
    let stall: () => Promise<unknown> = async () => {}
    const stalling = s.fresh({
      sessions: altered(s.ports.sessions, {
        putFile: async (session, place, file) => {
          await stall()
          return s.ports.sessions.putFile(session, place, file)
        },
      }),
    })
    // Maintenance finds the object unnamed, long after, and takes it away; then the writer goes on.
    let stalls = 0
    stall = async () => {
      if (stalls++ > 0) return
      expect(await s.keys('/files/')).toHaveLength(2)
      s.clock.advance(3 * HOUR)
      await s.maintain()
      await hours(s, 2)
      expect(await s.keys('/files/')).toHaveLength(1)
    }
    expect(await s.append('f', 'end', { offset: 6 }, stalling)).toMatchObject({ tail: 9, replayed: false })
    expect(stalls).toBeGreaterThan(1)
    expect(await s.raw('f')).toBe('begin end')
  })

  it('is not taken from a first writer who stalls, though no file was known yet', async () => {
    const s = open()
    let stalls = 0
    const stalling = s.fresh({
      sessions: altered(s.ports.sessions, {
        putFile: async (session, place, file) => {
          if (file.generation > 0 && stalls++ === 0) {
            s.clock.advance(3 * HOUR)
            await hours(s, 2)
            expect(await s.keys()).toEqual([])
            await expect(s.archive.files(s.session)).rejects.toMatchObject({ code: 'not_found' })
          }
          return s.ports.sessions.putFile(session, place, file)
        },
      }),
    })
    await s.append('sid.jsonl', claudeRow(0), {}, stalling)
    expect(await s.raw('sid.jsonl')).toBe(claudeRow(0))
    await s.exact()
  })

  it('is not taken from a deriver who stalls: its commit fails, and what it made is made again', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 20))
    await s.ports.objects.remove(await s.keys('/derived/'))
    let stalls = 0
    const stalling = s.fresh({
      sessions: altered(s.ports.sessions, {
        putHead: async (session, head) => {
          if (stalls++ === 0) {
            s.clock.advance(3 * HOUR)
            const keys = await s.keys('/derived/')
            await s.ports.objects.remove(keys)
            const now = await s.head()
            const swept = { ...now, sweep: now.sweep + 1, version: now.version + 1 }
            await s.ports.sessions.putHead(s.session, swept)
          }
          return s.ports.sessions.putHead(session, head)
        },
      }),
    })
    await s.document(undefined, stalling)
    expect(stalls).toBeGreaterThan(1)
    await s.exact()
  })

  it('of a writer who fell before anybody was told is told of by maintenance', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 2))
    s.clock.advance(5000)
    const falling = s.fresh({
      sessions: altered(s.ports.sessions, { putHead: () => Promise.reject(new Error('killed')) }),
    })
    const offset = utf8(claudeRows(0, 2)).length
    await expect(s.append('sid.jsonl', claudeRow(2), { offset }, falling)).rejects.toThrow('killed')
    s.clock.advance(2 * 60_000)
    await s.maintain()
    expect(await s.entry()).toMatchObject({ message_count: 3 })
    await s.exact()
  })

  it('is merged while appends go on, and stays byte for byte what it was', async () => {
    const s = open()
    let whole = ''
    for (let n = 0; n < 70; n++) {
      await s.append('f', `line ${n}\n`, { offset: whole.length })
      whole += `line ${n}\n`
    }
    let appended = 0
    const busy = altered(s.ports.objects, {
      compose: async (key, parts, facts) => {
        await s.ports.objects.compose(key, parts, facts)
        if (key.includes('/files/') && appended++ === 0) {
          await s.append('f', 'in between\n', { offset: whole.length })
          whole += 'in between\n'
        }
      },
    })
    await s.maintain({ objects: busy })
    expect(appended).toBeGreaterThan(0)
    expect(await s.raw('f')).toBe(whole)
    const head = await s.head()
    const file = await s.ports.sessions.file(s.session, { life: head.life, path: 'f' })
    expect(Object.keys(file?.extents ?? {}).length).toBeLessThan(35)
    await hours(s, 3)
    await nothingIsLeftOver(s)
    expect(await s.raw('f')).toBe(whole)
  })

  it('after its deletion is nothing, and nothing of it comes back', async () => {
    const s = open()
    await s.append('sid/subagents/agent-a.jsonl', claudeRows(0, 3))
    await s.append('sid.jsonl', claudeRows(0, 5))
    await s.append('sid.jsonl', claudeRows(0, 3), { generation: 2 })
    await s.document('a')
    const before = await s.head()
    await s.archive.remove(s.session)
    for (const gone of [
      () => s.document(),
      () => s.raw('sid.jsonl', 1),
      () => s.archive.files(s.session),
      () => s.archive.remove(s.session),
      () => s.archive.find({ ...s.session }, undefined),
    ]) {
      await expect(gone()).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await s.entry()).toBeUndefined()
    await hours(s, 2)
    s.clock.advance(24 * HOUR)
    await hours(s, 2)
    expect(await s.keys()).toEqual([])
    const { sessions } = s.ports
    expect(await all<object>(sessions.files(s.session, before.life))).toEqual([])
    expect(await all<object>(sessions.closedGenerations(s.session, before.life))).toEqual([])
    expect((await s.head()).due_at).toBeNull()
  })

  it('of a deleted life goes when another has begun under the name', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 5))
    await s.append('sid.jsonl', claudeRows(0, 3), { generation: 2 })
    await s.archive.remove(s.session)
    await s.append('sid.jsonl', claudeRows(0, 1))
    expect(await s.raw('sid.jsonl')).toBe(claudeRows(0, 1))
    await expect(s.raw('sid.jsonl', 2)).rejects.toMatchObject({ code: 'not_found' })
    await hours(s, 3)
    await nothingIsLeftOver(s)
    await s.exact()
  })

  it('cannot be added to by a writer of a life that has ended', async () => {
    const s = open()
    await s.append('f', 'begin ')
    const late = s.fresh({
      objects: altered(s.ports.objects, {
        put: async (key, chunks, facts) => {
          await s.ports.objects.put(key, chunks, facts)
          await s.archive.remove(s.session).catch(() => {})
        },
      }),
    })
    await expect(s.append('f', 'end', { offset: 6 }, late)).rejects.toMatchObject({
      code: 'gap',
      facts: { tail: 0 },
    })
    await expect(s.raw('f')).rejects.toMatchObject({ code: 'not_found' })
    await hours(s, 3)
    expect(await s.keys()).toEqual([])
  })

  it('is found by the slow round where nothing says that it is there', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 2))
    await hours(s, 3)
    expect((await s.head()).due_at).toBeNull()
    const [key = ''] = await s.keys('/files/')
    const orphan = key.replace(/[0-9a-f]{16}$/, '0'.repeat(16))
    await s.ports.objects.put(orphan, [utf8('nobody names it')], {})
    s.clock.advance(2 * HOUR)
    const everySession = async (after?: SessionKey) => (after ? [] : [s.session])
    const sessions = altered(s.ports.sessions, { everySession })
    const maintainer = createSessionMaintainer(s.fresh({ sessions }), { graceMs: HOUR })
    expect(await maintainer.round(undefined, () => true)).toEqual({ after: undefined, failures: [] })
    expect(await s.keys()).toContain(orphan)
    expect(await maintainer.round(undefined, () => false)).toEqual({ after: undefined, failures: [] })
    expect(await s.keys()).not.toContain(orphan)
    await s.exact()
  })
})
