import { expect, it } from 'vitest'
import type { SessionKey } from '#schema'
import { areSessionsLost, createSessionArchive, rebuildSessions, rederiveAll } from '#sessions/archive'
import { memoryPorts } from '#store/memory'
import { all, altered, type Fixture, onEveryStore } from './kit.ts'
import { claudeRow, claudeRows } from './rows.ts'

/** The same objects under an index that knows nothing; only this test's, and as many tenants may be there. */
function withoutIndex(s: Fixture) {
  const prefix = `sessions/${s.session.tenant}/`
  const objects = altered(s.ports.objects, {
    list: (start) => s.ports.objects.list(start.startsWith(prefix) ? start : prefix),
  })
  const ports = { ...s.ports, objects, sessions: memoryPorts(s.clock).sessions }
  return createSessionArchive(ports, { clock: s.clock, limits: { max_batch_bytes: 8 << 20 } })
}

const bytesOf = async (
  archive: ReturnType<typeof withoutIndex>,
  session: SessionKey,
  path: string,
  n?: number,
) => {
  const file = await archive.raw(session, path, n)
  return Buffer.concat(await all(file.bytes(0, file.tail))).toString()
}

onEveryStore('a lost index', (open) => {
  it('comes back from the objects: files, generations, merged ones, documents, entries', async () => {
    const s = open({ id: 'a session of a name so long that no key can hold all of it; '.repeat(3) })
    const main = `${s.session.id}.jsonl`
    const long = `${s.session.id}/tool-results/${'ü🚀'.repeat(50)}`
    await s.append(long, 'output')
    for (let n = 0; n < 40; n++)
      await s.append(main, claudeRow(n), { offset: Buffer.byteLength(claudeRows(0, n)) })
    await s.maintain()
    await s.append(main, claudeRows(0, 5), { generation: 2 })
    await s.add(main, claudeRow(5))
    const before = [await s.document(), await s.raw(main, 1), await s.raw(main, 2), await s.raw(long)]

    const archive = withoutIndex(s)
    expect(await areSessionsLost(archive)).toBe(true)
    const [found, ...more] = await all(rebuildSessions(archive))
    expect(found).toMatchObject({ session: s.session, outcome: 'rebuilt', files: 2, damaged: [] })
    expect(more).toEqual([])
    expect(await areSessionsLost(archive)).toBe(false)
    expect([
      await s.document(undefined, archive),
      ...(await Promise.all(
        [[main, 1] as const, [main, 2] as const, [long] as const].map(([path, n]) =>
          bytesOf(archive, s.session, path, n),
        ),
      )),
    ]).toEqual(before)
    expect((await archive.list(s.session.tenant, { limit: 9 })).items).toMatchObject([
      { id: s.session.id, message_count: 6, file_count: 2 },
    ])
    const row = {
      path: main,
      generation: 2,
      offset: Buffer.byteLength(claudeRows(0, 6)),
      bytes: Buffer.from(claudeRow(6)),
    }
    expect(await archive.append(s.session, row)).toMatchObject({ outcome: 'archived' })
    expect(await all(rebuildSessions(archive))).toMatchObject([{ outcome: 'known' }])
  })

  it('does not bring back what was deleted', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 3))
    await s.archive.remove(s.session)
    const archive = withoutIndex(s)
    expect(await all(rebuildSessions(archive))).toMatchObject([{ outcome: 'deleted' }])
    await expect(archive.files(s.session)).rejects.toMatchObject({ code: 'not_found' })
    await s.append('sid.jsonl', claudeRows(0, 2))
    const again = withoutIndex(s)
    expect(await all(rebuildSessions(again))).toMatchObject([{ outcome: 'rebuilt', files: 1 }])
    expect(await bytesOf(again, s.session, 'sid.jsonl')).toBe(claudeRows(0, 2))
  })

  it('takes of two writers the one whom another followed, and stops where that cannot be told', async () => {
    const s = open()
    await s.append('f', 'begin ')
    const losing = async (text: string, offset: number) => {
      const late = s.fresh({
        sessions: altered(s.ports.sessions, { putFile: () => Promise.reject(new Error('killed')) }),
      })
      await expect(s.append('f', text, { offset }, late)).rejects.toThrow('killed')
    }
    await losing('a much longer text that was never acknowledged', 6)
    await s.append('f', 'middle ', { offset: 6 })
    await s.append('f', 'end', { offset: 13 })
    const certain = withoutIndex(s)
    expect(await all(rebuildSessions(certain))).toMatchObject([{ outcome: 'rebuilt', damaged: [] }])
    expect(await bytesOf(certain, s.session, 'f')).toBe('begin middle end')

    await losing('nobody knows', 16)
    await s.append('f', ', truly', { offset: 16 })
    const torn = withoutIndex(s)
    expect(await all(rebuildSessions(torn))).toMatchObject([
      { outcome: 'rebuilt', damaged: [{ path: 'f', generation: 1, tail: 16 }] },
    ])
    expect(await bytesOf(torn, s.session, 'f')).toBe('begin middle end')
  })

  it('of derived objects is made anew by asking for it, and every answer is the same', async () => {
    const s = open()
    await s.append('sid/subagents/agent-a.jsonl', claudeRows(0, 4))
    await s.append('sid.jsonl', claudeRows(0, 20))
    const before = [await s.document(), await s.document('a'), await s.entry()]
    for (const key of await s.keys('/derived/')) await s.ports.objects.put(key, [Buffer.from('damaged')], {})
    const own = altered(s.ports.sessions, {
      everySession: async (after) => (after ? [] : [s.session]),
    })
    s.worked()
    expect(await all(rederiveAll(s.fresh({ sessions: own })))).toMatchObject([
      { outcome: 'derived', documents: 2 },
    ])
    expect(s.worked().parsed).toBe(24)
    expect([await s.document(), await s.document('a'), await s.entry()]).toEqual(before)
    expect(s.worked().parsed).toBe(0)
  })
})
