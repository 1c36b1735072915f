import { expect, it } from 'vitest'
import { altered, onEveryStore } from './kit.ts'
import { claudeRow, claudeRows, codexMeta, codexUser, kimiMeta, kimiUsers, movedOutput } from './rows.ts'

// SESSIONS.md 6, by number; what is the daemon's part of one stands with the daemon.

onEveryStore('what is derived of a session', (open) => {
  it('1: is the same after the same bytes were sent again', async () => {
    const s = open()
    expect(await s.append('sid.jsonl', claudeRows(0, 3))).toMatchObject({ outcome: 'archived', problems: 0 })
    const before = [await s.document(), await s.entry(), await s.archive.files(s.session)]
    expect(await s.append('sid.jsonl', claudeRows(0, 3))).toMatchObject({
      outcome: 'skipped',
      replayed: true,
    })
    expect([await s.document(), await s.entry(), await s.archive.files(s.session)]).toEqual(before)
    await s.exact()
  })

  it('2: is exact however a file is cut into appends', async () => {
    const bytes = Buffer.from(`\uFEFF${claudeRows(0, 3)}not json\n${claudeRow(3)}{"type":"user","uuid":"end"`)
    for (const cuts of [[1], [bytes.length - 1], [310], [200, 201], [2, 700], [640, 800]]) {
      const s = open()
      let from = 0
      for (const to of [...cuts, bytes.length]) {
        await s.append('sid.jsonl', bytes.subarray(from, to), { offset: from })
        await s.exact()
        from = to
      }
    }
  })

  it('3: costs no parsing to read again, whichever process reads', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 50))
    await s.document()
    s.worked()
    for (let reader = 0; reader < 4; reader++) {
      await s.document()
      await s.entry()
    }
    expect(s.worked()).toEqual({ parsed: 0, read: 0 })
  })

  it('4: costs no parsing to read again of a session that is a folder', async () => {
    const s = open({ harness: 'kimi-code' })
    await s.append('agents/main/wire.jsonl', kimiMeta + kimiUsers(0, 20))
    await s.append('state.json', '{"title":"a title"}')
    await s.exact()
    s.worked()
    for (let reader = 0; reader < 4; reader++) await s.document()
    expect(s.worked()).toEqual({ parsed: 0, read: 0 })
    await s.append('state.json', '{"title":"a title"}')
    s.worked()
    await s.document()
    expect(s.worked().parsed).toBe(0)
  })

  it('12: follows a tool output that appears, grows and is replaced; one that no message names changes no message', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 4) + movedOutput(4, 'out.txt'))
    const file = async () => JSON.stringify((await s.messages()).at(-1))
    expect(await file()).not.toContain('"bytes"')
    expect(await s.entry()).toMatchObject({ problem_count: 1 })
    await s.exact()
    for (const [text, more] of [
      ['some output', {}],
      [' and more', { offset: 11 }],
      ['another', { generation: 2 }],
    ] as const) {
      await s.append('sid/tool-results/out.txt', text, more)
      await s.exact()
    }
    expect(await file()).toContain('"bytes":7')
    const messages = await s.messages()
    await s.append('sid/tool-results/unnamed.txt', 'nobody asks for it')
    expect(await s.messages()).toEqual(messages)
    await s.exact()
  })

  it('13: takes title and cwd from a state that was replaced, and parses no message again', async () => {
    const s = open({ harness: 'kimi-code' })
    await s.append('agents/main/wire.jsonl', kimiMeta + kimiUsers(0, 30))
    await s.append('state.json', '{"title":"one","cwd":"/a"}')
    await s.exact()
    s.worked()
    await s.append('state.json', '{"title":"two","cwd":"/b"}', { generation: 2 })
    expect(await s.entry()).toMatchObject({ title: 'two', cwd: '/b' })
    expect(s.worked().parsed).toBe(0)
    await s.exact()
    expect(await s.raw('state.json', 1)).toBe('{"title":"one","cwd":"/a"}')
  })

  it('23: is labelled by its first prompt when only a suffix was parsed', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRow(0, '  the first\n\nprompt ') + claudeRows(1, 200))
    s.worked()
    await s.add('sid.jsonl', claudeRow(200, 'a later prompt'))
    expect(s.worked().parsed).toBeLessThan(10)
    expect(await s.entry()).toMatchObject({ title: 'the first prompt', message_count: 201 })
    await s.exact()
  })

  it('of a rewritten file is that of the newest generation', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 40))
    await s.append('sid.jsonl', claudeRows(0, 2), { generation: 2 })
    expect(await s.messages()).toHaveLength(2)
    await s.exact()
    await s.append('sid.jsonl', '', { generation: 3 })
    expect(await s.messages()).toEqual([])
    await s.exact()
    expect(await s.raw('sid.jsonl', 1)).toBe(claudeRows(0, 40))
  })

  it('of a sub-agent is a document of its own', async () => {
    const s = open()
    await s.append('sid/subagents/agent-a1.jsonl', claudeRows(0, 4))
    await s.append('sid.jsonl', claudeRows(0, 2))
    await s.exact('a1')
    expect(await s.entry()).toMatchObject({ message_count: 2, agent_count: 1 })
    await s.add('sid/subagents/agent-a1.jsonl', claudeRows(4, 6))
    await s.exact('a1')
    await s.exact()
    s.worked()
    await s.document('a1')
    expect(s.worked().parsed).toBe(0)
    await expect(s.document('a2')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('of a fork follows its ancestor, whose commits do not touch it', async () => {
    const child = open({ harness: 'codex', id: 'child' })
    const parent = { ...child.session, id: 'parent' }
    const copied = codexMeta('parent') + [1, 2, 3].map(codexUser).join('')
    await child.append(
      'rollout-c.jsonl',
      codexMeta('child', { forked_from_id: 'parent' }) + copied + codexUser(99),
    )
    await child.exact()
    const clocked = await child.entry()
    const bytes = Buffer.from(copied)
    await child.archive.append(parent, { path: 'rollout-p.jsonl', generation: 1, offset: 0, bytes })
    expect(await child.entry()).toMatchObject({ lineage: { boundary: 'parent', embedded_messages: 3 } })
    expect(await child.entry()).not.toEqual(clocked)
    await child.exact()
    const more = {
      path: 'rollout-p.jsonl',
      generation: 1,
      offset: bytes.length,
      bytes: Buffer.from(codexUser(4)),
    }
    await child.archive.append(parent, more)
    await child.exact()
    await child.archive.remove(parent)
    await child.exact()
    expect(await child.entry()).toMatchObject({ lineage: { boundary: 'clock' } })
  })

  it('does without an ancestor whose name no session can have, and keeps a small head', async () => {
    for (const name of ['x'.repeat(4000), '..', 'a\u0000b', '/']) {
      const s = open({ harness: 'codex' })
      const rows = codexMeta('sid', { forked_from_id: name }) + codexUser(1)
      expect(await s.append('rollout-1.jsonl', rows)).toMatchObject({ outcome: 'archived' })
      await s.exact()
      expect(JSON.stringify(await s.head()).length).toBeLessThan(12_000)
    }
  })

  it('is had without listing the storage', async () => {
    const s = open()
    const list = () => {
      throw new Error('appends and reads list nothing')
    }
    const archive = s.fresh({ objects: altered(s.ports.objects, { list }) })
    await s.append('sid/subagents/agent-a.jsonl', claudeRows(0, 2), {}, archive)
    await s.append('sid.jsonl', claudeRows(0, 2), {}, archive)
    await s.append('sid.jsonl', claudeRows(0, 1), { generation: 2 }, archive)
    await s.document('a', archive)
    await s.document(undefined, archive)
    expect((await archive.files(s.session)).items).toHaveLength(3)
    expect(await s.entry(archive)).toMatchObject({ message_count: 1 })
    await archive.remove(s.session)
  })
})
