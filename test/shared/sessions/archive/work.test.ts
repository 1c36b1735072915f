import { expect, it } from 'vitest'
import { parserOf } from '#sessions'
import { altered, onEveryStore } from './kit.ts'
import {
  claudeRow,
  claudeRows,
  codexAgent,
  codexMeta,
  codexTokens,
  codexUser,
  kimiMeta,
  kimiPart,
  kimiStepBegin,
  kimiStepEnd,
  kimiUsers,
} from './rows.ts'

// SESSIONS.md 6, 6 to 9: an append costs what is new, whatever the session has already.

const KiB = 1024

onEveryStore('the work of an append', (open) => {
  it('6: of 4 rows to 8,192 of Claude Code is that of a few', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 8192))
    await s.exact()
    s.worked()
    await s.add('sid.jsonl', claudeRows(8192, 8196))
    expect(await s.entry()).toMatchObject({ message_count: 8196 })
    await s.document()
    const { parsed, read } = s.worked()
    expect(parsed).toBeLessThan(1024)
    expect(read).toBeLessThan(300 * KiB)
    await s.exact()
  })

  it('7: of 4 messages to 4,096 of Kimi Code is that of a few', async () => {
    const s = open({ harness: 'kimi-code' })
    const wire = 'agents/main/wire.jsonl'
    await s.append(wire, kimiMeta + kimiUsers(0, 4096))
    await s.append('state.json', '{"title":"long"}')
    await s.document()
    s.worked()
    await s.add(wire, kimiUsers(4096, 4100))
    expect(await s.messages()).toHaveLength(4100)
    expect(s.worked().parsed).toBeLessThan(2048)
    await s.exact()
  })

  it('9: of what follows a held message is small, and the message gains its usage once', async () => {
    const s = open({ harness: 'codex' })
    const questions = Array.from({ length: 8192 }, (_, n) => codexUser(n)).join('')
    await s.append('rollout-1.jsonl', codexMeta('sid') + questions + codexAgent(8192))
    expect(await s.messages()).toHaveLength(8193)
    s.worked()
    await s.add('rollout-1.jsonl', codexTokens(8193, 5) + codexUser(8194))
    const messages = await s.messages()
    expect(s.worked().parsed).toBeLessThan(1024)
    expect(messages).toHaveLength(8194)
    expect(messages.filter(({ usage }) => usage !== undefined)).toMatchObject([
      { usage: { input_tokens: 5 } },
    ])
    expect(messages.at(-2)).toHaveProperty('usage')
    await s.exact()
  })

  it('9: an open step of Kimi Code goes on where it was cut', async () => {
    const s = open({ harness: 'kimi-code' })
    const wire = 'agents/main/wire.jsonl'
    await s.append(wire, kimiMeta + kimiUsers(0, 300) + kimiStepBegin(300))
    for (const part of [kimiPart(300), kimiPart(300), kimiStepEnd(300)]) {
      await s.add(wire, part)
      await s.exact()
    }
    expect((await s.messages()).at(-1)).toMatchObject({ role: 'assistant', content: [{}, {}] })
  })

  it('of many small appends leaves few objects of a file and of what is derived', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 1))
    for (let n = 1; n < 75; n++) {
      await s.add('sid.jsonl', claudeRows(n, n + 1))
      if (n % 36 === 0) await s.maintain()
    }
    s.clock.advance(120_000)
    await s.maintain()
    s.clock.advance(3 * 3_600_000)
    await s.maintain()
    expect((await s.keys('/files/')).length).toBeLessThan(36)
    expect((await s.keys('/derived/')).length).toBeLessThan(4)
    await s.exact()
  })

  it('to a session so long that no state is kept is left to a quiet moment', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 20))
    const head = await s.head()
    const derived = head.derived && { ...head.derived, state: null }
    const heavy = { ...head, derived, raw_bytes: 1_000_000_000, version: head.version + 1 }
    await s.ports.sessions.putHead(s.session, heavy)
    s.worked()
    expect(await s.add('sid.jsonl', claudeRows(20, 21))).toMatchObject({
      outcome: 'archived',
      problems: null,
    })
    await s.maintain()
    expect(s.worked().parsed).toBe(0)
    s.clock.advance(61_000)
    await s.maintain()
    expect(s.worked().parsed).toBeGreaterThan(0)
    expect(await s.entry()).toMatchObject({ message_count: 21 })
    await s.exact()
  })

  it('to a long line that has not ended reads it again only when as much is new', async () => {
    const s = open()
    const REQUEST = 4 << 20
    const line = Buffer.alloc(8 * REQUEST, 'x')
    line.write('{"type":"user","uuid":"u","message":{"content":"')
    line.write('"}}\n', line.length - 4)
    await s.append('sid.jsonl', claudeRows(0, 2))
    for (let at = 0; at < line.length; at += REQUEST) {
      await s.add('sid.jsonl', line.subarray(at, at + REQUEST))
      await s.maintain()
    }
    expect(s.worked().read).toBeLessThan(3 * line.length)
    await s.add('sid.jsonl', claudeRow(2))
    await s.exact()
    expect(await s.entry()).toMatchObject({ message_count: 4 })
  })

  it('to a document of more than 8 MiB copies what stands inside the storage', async () => {
    const s = open()
    const text = 'x'.repeat(100_000)
    let n = 0
    const rows = (count: number) => Array.from({ length: count }, () => claudeRow(n++, text)).join('')
    await s.append('sid.jsonl', rows(70))
    await s.add('sid.jsonl', rows(50))
    await s.document()
    const composed: { copied: number; sent: number }[] = []
    const objects = altered(s.ports.objects, {
      compose: async (key, parts, facts) => {
        const sum = { copied: 0, sent: 0 }
        for (const part of parts) {
          if ('copy' in part) sum.copied += part.range.end - part.range.start
          else sum.sent += part.bytes.length
        }
        if (key.includes('/document-')) composed.push(sum)
        await s.ports.objects.compose(key, parts, facts)
      },
    })
    await s.add('sid.jsonl', rows(2), s.fresh({ objects }))
    expect(composed).toEqual([])
    await s.document(undefined, s.fresh({ objects }))
    expect(composed).toHaveLength(1)
    expect(composed[0]?.copied).toBeGreaterThan(11_000_000)
    expect(composed[0]?.sent).toBeLessThan(300_000)
    await s.exact()
    expect(await s.keys('/piece-')).toEqual([])
  })

  it('after a new parser has come is left to maintenance where all would be parsed anew', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 20))
    const head = await s.head()
    const derived = head.derived && { ...head.derived, parser: 'claude-code/0' }
    const before = { ...head, derived, raw_bytes: 100_000_000, version: head.version + 1 }
    await s.ports.sessions.putHead(s.session, before)
    s.worked()
    expect(await s.add('sid.jsonl', claudeRows(20, 21))).toMatchObject({
      outcome: 'archived',
      problems: null,
    })
    expect(await s.entry()).toMatchObject({ message_count: 20, parser: 'claude-code/0' })
    expect(s.worked().parsed).toBe(0)
    await s.maintain()
    expect(await s.entry()).toMatchObject({ message_count: 21, parser: parserOf('claude-code') })
    await s.exact()
  })
})
