import { expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import type { SessionHead } from '#store'
import { altered, type Fixture, onEveryStore, utf8 } from './kit.ts'
import { claudeRow, claudeRows } from './rows.ts'

// SESSIONS.md 6, "Repair of derived objects" and "Failure", the server's part.

/** Clears what the head says of derived objects. */
async function forget(s: Fixture, members: (keyof SessionHead)[]) {
  const head = await s.head()
  const cleared = Object.fromEntries(members.map((name) => [name, null]))
  await s.ports.sessions.putHead(s.session, { ...head, ...cleared, version: head.version + 1 })
}

const answers = async (s: Fixture) => [
  Buffer.from(await s.document()).toString(),
  await s.entry(),
  await s.archive.files(s.session),
  await s.raw('sid.jsonl'),
]

onEveryStore('derived objects', (open) => {
  it('10: that were overwritten are noticed, also at the same length, and made anew in full', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 60))
    const right = await s.document()
    const [key = ''] = await s.keys('/document-')
    for (const wrong of [right.with(40, 0x21), utf8('{}'), new Uint8Array()]) {
      await s.ports.objects.put(key, [wrong], {})
      s.worked()
      expect(await s.document()).toEqual(right)
      expect(s.worked().parsed).toBe(60)
      await s.exact()
    }
    await s.ports.objects.put(key, [right.with(40, 0x21)], {})
    await s.add('sid.jsonl', claudeRows(60, 64))
    await s.exact()
  })

  it('11: can all be deleted, one by one or together, and no answer changes', async () => {
    const s = open()
    await s.append('sid/tool-results/out.txt', 'output')
    await s.append('sid.jsonl', claudeRows(0, 30))
    const before = await answers(s)
    const removals: (() => Promise<unknown>)[] = [
      async () => s.ports.objects.remove(await s.keys('/document-')),
      async () => s.ports.objects.remove(await s.keys('/state-')),
      async () => s.ports.objects.remove(await s.keys('/derived/')),
      async () => forget(s, ['entry']),
      async () => forget(s, ['derived']),
      async () => {
        await s.ports.objects.remove(await s.keys('/derived/'))
        await forget(s, ['entry', 'derived'])
      },
    ]
    for (const remove of removals) {
      await remove()
      expect(await answers(s)).toEqual(before)
      await s.exact()
    }
    await s.ports.objects.remove(await s.keys('/derived/'))
    await s.add('sid.jsonl', claudeRows(30, 33))
    await s.exact()
  })

  it('16: stay as they are when a derivation fails midway, and the next attempt repairs', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 10))
    await s.document()
    const { derived, entry } = await s.head()
    const before = await s.document()
    const keys = await s.keys('/derived/')
    const broken = s.fresh({
      objects: altered(s.ports.objects, {
        get: async (key, range) => (key.includes('/files/') ? undefined : s.ports.objects.get(key, range)),
      }),
    })
    const { tail } = await s.archive.raw(s.session, 'sid.jsonl')
    const answer = await s.append('sid.jsonl', claudeRows(10, 14), { offset: tail }, broken)
    expect(answer).toMatchObject({ outcome: 'failed', problems: null, replayed: false })
    expect(await s.head()).toMatchObject({ derived, entry })
    expect(await s.document(undefined, broken)).toEqual(before)
    expect(await s.keys('/derived/')).toEqual(keys)
    expect(await s.raw('sid.jsonl')).toBe(claudeRows(0, 14))
    await s.exact()
    expect(await s.entry()).toMatchObject({ message_count: 14 })
  })

  it('17, 18: that the head could not be told of bless nothing; the next attempt is right and the orphans go', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 10))
    const before = await s.document()
    const { derived } = await s.head()
    const broken = s.fresh({
      sessions: altered(s.ports.sessions, {
        putHead: async (session, head) => {
          if (JSON.stringify(head.derived) === JSON.stringify(derived)) {
            return s.ports.sessions.putHead(session, head)
          }
          throw new RunfoldError('unavailable', 'the table is away')
        },
      }),
    })
    const { tail } = await s.archive.raw(s.session, 'sid.jsonl')
    const answer = await s.append('sid.jsonl', claudeRows(10, 40), { offset: tail }, broken)
    expect(answer).toMatchObject({ outcome: 'failed', tail: utf8(claudeRows(0, 40)).length })
    expect(await s.document(undefined, broken)).toEqual(before)
    expect((await s.head()).derived).toEqual(derived)
    const orphans = (await s.keys('/derived/')).filter((key) => !JSON.stringify(derived).includes(key))
    expect(orphans).not.toEqual([])

    await s.exact()
    expect(await s.entry()).toMatchObject({ message_count: 40 })
    for (let hours = 0; hours < 6; hours += 2) {
      await s.maintain()
      s.clock.advance(2 * 3_600_000)
    }
    await s.maintain()
    const named = JSON.stringify((await s.head()).derived)
    for (const key of await s.keys('/derived/')) expect(named).toContain(key)
    await s.exact()
  })

  it('19: whose state is unreadable, gone or of another parser are made anew in full', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 20))
    let rows = 20
    const next = async () => {
      s.worked()
      expect(await s.add('sid.jsonl', claudeRow(rows++))).toMatchObject({ outcome: 'archived' })
      await s.document()
      const { parsed } = s.worked()
      await s.exact()
      return parsed
    }
    expect(await next()).toBeLessThan(10)
    for (const key of await s.keys('/state-')) await s.ports.objects.put(key, [utf8('no state')], {})
    expect(await next()).toBeGreaterThan(20)
    expect(await next()).toBeLessThan(20)
    await s.ports.objects.remove(await s.keys('/state-'))
    expect(await next()).toBeGreaterThan(20)
    const head = await s.head()
    const derived = head.derived && { ...head.derived, parser: 'claude-code/0' }
    await s.ports.sessions.putHead(s.session, { ...head, derived, version: head.version + 1 })
    expect(await next()).toBeGreaterThan(20)
  })

  it('20: are not copied from a document that vanishes or changes during the copy', async () => {
    for (const meddle of ['vanish', 'change'] as const) {
      const s = open()
      await s.append('sid.jsonl', claudeRows(0, 40))
      const old = await s.document()
      await s.add('sid.jsonl', claudeRow(40))
      let copies = 0
      const meddling = s.fresh({
        objects: altered(s.ports.objects, {
          compose: async (key, parts, facts) => {
            const copied = parts.flatMap((part) => ('copy' in part ? [part.copy] : []))
            if (copied.length > 0 && copies++ === 0) {
              if (meddle === 'vanish') await s.ports.objects.remove(copied)
              else await s.ports.objects.put(copied[0] as string, [old.with(9, 0x3f)], {})
            }
            return s.ports.objects.compose(key, parts, facts)
          },
        }),
      })
      s.worked()
      await s.document(undefined, meddling)
      expect(copies).toBe(1)
      expect(s.worked().parsed).toBeGreaterThan(41)
      await s.exact()
    }
  })

  it('21: name the inputs they were made from when raw bytes come during a derivation', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 30))
    await s.ports.objects.remove(await s.keys('/derived/'))
    await forget(s, ['derived', 'entry'])
    let grown = false
    const slow = s.fresh({
      objects: altered(s.ports.objects, {
        get: async (key, range) => {
          if (key.includes('/files/') && !grown) {
            grown = true
            const other = s.fresh({
              objects: altered(s.ports.objects, { compose: () => Promise.reject(Error()) }),
            })
            await s.add('sid.jsonl', claudeRows(30, 33), other)
          }
          return s.ports.objects.get(key, range)
        },
      }),
    })
    const published = JSON.parse(Buffer.from(await s.document(undefined, slow)).toString())
    expect(grown).toBe(true)
    expect([30, 33]).toContain(published.messages.length)
    const { derived, revision } = await s.head()
    if (published.messages.length === 30) expect(derived?.revision).toBeLessThan(revision)
    expect(await s.messages()).toHaveLength(33)
    await s.exact()
  })

  it('22: that do not add up with what they went on from are thrown away and made in full', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 40))
    await s.document()
    const head = await s.head()
    const document = head.derived?.document
    if (!head.derived || !document) throw new Error('there is a document')
    const lying = { ...head.derived, document: { ...document, stable_bytes: document.stable_bytes + 7 } }
    await s.ports.sessions.putHead(s.session, { ...head, derived: lying, version: head.version + 1 })
    await s.add('sid.jsonl', claudeRows(40, 60))
    await s.exact()
  })

  it('are mended by a check, which names every raw byte that is damaged', async () => {
    const s = open()
    await s.append('sid/subagents/agent-a.jsonl', claudeRows(0, 3))
    await s.append('sid.jsonl', claudeRows(0, 9))
    await s.append('sid.jsonl', claudeRows(0, 8), { generation: 2 })
    const before = [await s.document(), await s.document('a')]
    const bytes = [3, 9, 8].reduce((sum, rows) => sum + utf8(claudeRows(0, rows)).length, 0)
    const sound = { ok: true, files: 2, bytes, problems: [], repaired: [] }
    expect(await s.archive.verify(s.session)).toEqual(sound)

    for (const key of await s.keys('/document-')) await s.ports.objects.put(key, [utf8('{}')], {})
    const repaired = ['sid.jsonl', 'sid/subagents/agent-a.jsonl']
    expect(await s.archive.verify(s.session)).toEqual({ ...sound, repaired })
    expect(await s.archive.verify(s.session)).toEqual(sound)
    expect([await s.document(), await s.document('a')]).toEqual(before)

    const [first = ''] = await s.keys('/sid.jsonl/1/')
    await s.ports.objects.put(first, [utf8(claudeRows(0, 9)).with(5, 0x21)], {})
    const changed = { path: 'sid.jsonl', generation: 1, offset: 0, code: 'wrong_digest' }
    expect(await s.archive.verify(s.session)).toMatchObject({ ok: false, problems: [changed], repaired: [] })
    await s.ports.objects.remove([first])
    const gone = { path: 'sid.jsonl', generation: 1, offset: 0, code: 'unreadable_bytes' }
    expect(await s.archive.verify(s.session)).toMatchObject({ ok: false, problems: [gone] })
  })
})
