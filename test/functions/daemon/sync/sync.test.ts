import {
  appendFileSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { CLAUDE, laptop, rows } from './kit.ts'

const MAIN = `${CLAUDE}/s1.jsonl`
const SOURCES = { 's1.jsonl': MAIN }

const sent = async (bytes = rows(0, 40)) => {
  const here = await laptop()
  here.write(MAIN, bytes)
  expect((await here.sync()).outcomes).toEqual({ s1: 'archived' })
  return here
}
const generations = async (here: Awaited<ReturnType<typeof laptop>>) =>
  (await here.files('claude-code', 's1')).map(({ path, generation, tail, current }) => [
    path,
    generation,
    tail,
    current,
  ])

describe('idempotence and idle', () => {
  it('1: syncing twice gives archived, then skipped, and changes nothing', async () => {
    const here = await sent()
    const before = [await generations(here), (await here.document('claude-code', 's1')).toString()]
    expect((await here.sync()).outcomes).toEqual({ s1: 'skipped' })
    expect([await generations(here), (await here.document('claude-code', 's1')).toString()]).toEqual(before)
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('3: four passes by fresh processes over an unchanged source read nothing and ask nothing', async () => {
    const here = await sent()
    here.server.requests.length = 0
    for (let pass = 0; pass < 4; pass++) {
      const { outcomes, counters } = await here.sync()
      expect(outcomes).toEqual({ s1: 'skipped' })
      expect(counters).toEqual({ bytes_read: 0, bytes_sent: 0, requests: 0 })
    }
    expect(here.server.requests.filter((each) => !each.includes('capabilities'))).toEqual([])
  })

  it('4: the same for a session that is a folder', async () => {
    const here = await laptop()
    const folder = '.kimi-code/sessions/ws/session_k1'
    here.write(`${folder}/state.json`, '{"title":"t","cwd":"/w"}')
    here.write(
      `${folder}/agents/main/wire.jsonl`,
      '{"type":"context.append_message","time":1790000000000,"message":{"role":"user","content":[{"type":"text","text":"hi"}]}}\n',
    )
    here.write(`${folder}/agents/main/x.lock`, 'not a file of the session')
    expect((await here.sync()).outcomes).toEqual({ k1: 'archived' })
    await here.expectExact('kimi-code', 'k1', {
      'state.json': `${folder}/state.json`,
      'agents/main/wire.jsonl': `${folder}/agents/main/wire.jsonl`,
    })
    for (let pass = 0; pass < 4; pass++)
      expect((await here.sync()).counters).toEqual({ bytes_read: 0, bytes_sent: 0, requests: 0 })
  })
})

describe('append', () => {
  it('6: of 8,192 rows and 4 more, little is read and only the 4 are sent', async () => {
    const here = await sent(rows(0, 8192))
    const more = rows(8192, 8196)
    appendFileSync(here.path(MAIN), more)
    const { counters, outcomes } = await here.sync()
    expect(outcomes).toEqual({ s1: 'archived' })
    expect(counters.bytes_sent).toBe(more.length)
    expect(counters.bytes_read).toBeLessThan(300 * 1024)
    await here.expectExact('claude-code', 's1', SOURCES)
    expect(JSON.parse((await here.document('claude-code', 's1')).toString()).messages).toHaveLength(8196)
  })

  it('8: a file rewritten whole in place with the old bytes first is an append', async () => {
    const here = await sent()
    writeFileSync(here.path(MAIN), rows(0, 50))
    const { counters } = await here.sync()
    expect(counters.bytes_sent).toBe(rows(40, 50).length)
    expect(await generations(here)).toEqual([['s1.jsonl', 1, rows(0, 50).length, true]])
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('an unterminated end is sent at once, and its rest later', async () => {
    const bytes = rows(0, 3)
    const here = await sent(bytes.slice(0, -20))
    writeFileSync(here.path(MAIN), bytes)
    expect((await here.sync()).counters.bytes_sent).toBe(20)
    expect(await generations(here)).toEqual([['s1.jsonl', 1, bytes.length, true]])
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('an unterminated end that was written otherwise begins the next generation', async () => {
    const bytes = rows(0, 3)
    const here = await sent(`${bytes}{"half":1`)
    writeFileSync(here.path(MAIN), `${bytes}{"other":12345}\n`)
    await here.sync()
    expect(await generations(here)).toEqual([
      ['s1.jsonl', 1, bytes.length + 9, false],
      ['s1.jsonl', 2, bytes.length + 16, true],
    ])
    expect((await here.raw('claude-code', 's1', 's1.jsonl', 1)).toString()).toBe(`${bytes}{"half":1`)
    await here.expectExact('claude-code', 's1', SOURCES)
  })
})

describe('dependencies', () => {
  it('12: a tool output that appears beside a transcript is sent before it, and derived with it', async () => {
    const here = await sent()
    here.write(`${CLAUDE}/s1/tool-results/a.txt`, 'what the tool said')
    appendFileSync(here.path(MAIN), rows(40, 41))
    here.server.requests.length = 0
    await here.sync()
    const sentPaths = here.server.requests
      .filter((each) => each.startsWith('POST'))
      .map((each) => new URL(each.slice(5), 'http://x').searchParams.get('path'))
    expect(sentPaths).toEqual(['s1/tool-results/a.txt', 's1.jsonl'])
    await here.expectExact('claude-code', 's1', {
      ...SOURCES,
      's1/tool-results/a.txt': `${CLAUDE}/s1/tool-results/a.txt`,
    })
  })

  it('13: a state.json that was rewritten is a next generation, and the old one stays readable', async () => {
    const here = await laptop()
    const folder = '.kimi-code/sessions/ws/session_k1'
    here.write(`${folder}/state.json`, '{"title":"before","cwd":"/w"}')
    here.write(`${folder}/agents/main/wire.jsonl`, '')
    await here.sync()
    here.write(`${folder}/state.json`, '{"title":"afterwards","cwd":"/v"}')
    expect((await here.sync()).outcomes).toEqual({ k1: 'archived' })
    expect((await here.raw('kimi-code', 'k1', 'state.json', 1)).toString()).toContain('before')
    expect(JSON.parse((await here.document('kimi-code', 'k1')).toString())).toMatchObject({
      title: 'afterwards',
      cwd: '/v',
    })
  })

  it('an empty file becomes known', async () => {
    const here = await laptop()
    here.write(MAIN, '')
    expect((await here.sync()).outcomes).toEqual({ s1: 'skipped' })
    expect(await generations(here)).toEqual([['s1.jsonl', 1, 0, true]])
    expect((await here.sync()).counters.requests).toBe(0)
  })
})

describe('replacement', () => {
  it('14: replaced by the same bytes: read in full, nothing sent, the generation stays', async () => {
    const here = await sent()
    const { atime, mtime } = statSync(here.path(MAIN))
    here.write(`${MAIN}.new`, rows(0, 40))
    utimesSync(here.path(`${MAIN}.new`), atime, mtime)
    renameSync(here.path(`${MAIN}.new`), here.path(MAIN))
    const { outcomes, counters } = await here.sync()
    expect(outcomes).toEqual({ s1: 'skipped' })
    expect(counters.bytes_sent).toBe(0)
    expect(counters.bytes_read).toBeGreaterThanOrEqual(rows(0, 40).length)
    expect((await here.sync()).counters.bytes_read).toBe(0)
    expect(await generations(here)).toHaveLength(1)
  })

  it('14: replaced by other bytes of the same length and time: the next generation', async () => {
    const here = await sent()
    const { atime, mtime } = statSync(here.path(MAIN))
    here.write(`${MAIN}.new`, rows(0, 40, 'something that was seen'))
    utimesSync(here.path(`${MAIN}.new`), atime, mtime)
    renameSync(here.path(`${MAIN}.new`), here.path(MAIN))
    await here.sync()
    expect((await generations(here)).map(([, generation]) => generation)).toEqual([1, 2])
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('15: cut in place: the next generation, and the first is still what it was', async () => {
    const here = await sent()
    truncateSync(here.path(MAIN), rows(0, 2).length)
    await here.sync()
    expect(JSON.parse((await here.document('claude-code', 's1')).toString()).messages).toHaveLength(2)
    expect((await here.raw('claude-code', 's1', 's1.jsonl', 1)).toString()).toBe(rows(0, 40))
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('15: cut and grown again past the old cursor between two passes', async () => {
    const here = await sent()
    writeFileSync(here.path(MAIN), rows(0, 2) + rows(2, 60, 'quite another thing that was said'))
    await here.sync()
    expect((await generations(here)).map(([, generation]) => generation)).toEqual([1, 2])
    expect((await here.raw('claude-code', 's1', 's1.jsonl', 1)).toString()).toBe(rows(0, 40))
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('15: earlier bytes changed in place with the old time are noticed by the change time', async () => {
    const here = await sent()
    const { atime, mtime } = statSync(here.path(MAIN))
    writeFileSync(here.path(MAIN), rows(0, 40).replace('something', 'SOMETHING'))
    utimesSync(here.path(MAIN), atime, mtime)
    await here.sync()
    expect((await generations(here)).map(([, generation]) => generation)).toEqual([1, 2])
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('15: bytes changed early in a file that also grew are noticed when it has doubled', async () => {
    const bytes = rows(0, 900)
    const here = await sent(bytes)
    const changed = Buffer.from(rows(0, 2000))
    changed.write('SOMETHING', bytes.length >> 1)
    writeFileSync(here.path(MAIN), changed)
    await here.sync()
    expect((await generations(here)).map(([, generation]) => generation)).toEqual([1, 2])
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('a packed rollout is the plain one: nothing is sent, and what it unpacks to can be read', async () => {
    const here = await laptop()
    const id = '019f4c10-7e2a-7b41-9c55-3a1f0d2e8b01'
    const day = '.codex/sessions/2026/11/03'
    const rollout = `rollout-2026-11-03T10-00-00-${id}.jsonl`
    const bytes = `${JSON.stringify({ timestamp: '2026-11-03T10:00:00.000Z', type: 'session_meta', payload: { id, cwd: '/w' } })}\n${JSON.stringify({ timestamp: '2026-11-03T10:00:01.000Z', type: 'event_msg', payload: { type: 'user_message', message: 'hi' } })}\n`
    here.write(`${day}/${rollout}`, bytes)
    expect((await here.sync()).outcomes).toEqual({ [id]: 'archived' })
    here.write(`.codex/archived_sessions/${rollout}.zst`, zstdCompressSync(Buffer.from(bytes)))
    expect((await here.sync()).outcomes, 'both at once').toEqual({ [id]: 'skipped' })
    renameSync(here.path(`${day}/${rollout}`), here.path('elsewhere'))
    expect((await here.sync()).outcomes, 'packed alone').toEqual({ [id]: 'skipped' })
    const { counters } = await here.sync()
    expect(counters).toEqual({ bytes_read: 0, bytes_sent: 0, requests: 0 })
    expect((await here.raw('codex', id, rollout)).toString()).toBe(bytes)
    here.write(`.codex/archived_sessions/${rollout}.zst`, 'no zstd at all')
    expect((await here.sync()).sessions[0]).toMatchObject({
      outcome: 'failed',
      problems: [`${rollout}: it is no readable zstd file`],
    })
  })
})

describe('what is never read', () => {
  it('links, pipes and whatever is no file of a session', async () => {
    const here = await sent()
    here.write('secret.jsonl', 'do not read me')
    here.write('.claude/.credentials.json', '{"token":"do not read me"}')
    symlinkSync(here.path('secret.jsonl'), here.path(`${CLAUDE}/s2.jsonl`))
    mkdirSync(here.path('outside'))
    here.write('outside/s3.jsonl', 'do not read me')
    symlinkSync(here.path('outside'), here.path('.claude/projects/linked'))
    const { outcomes, unread } = await here.sync()
    expect(outcomes).toEqual({ s1: 'skipped' })
    expect(unread.map(({ source, reason }) => [source.slice(here.home.length + 1), reason])).toEqual([
      [`${CLAUDE}/s2.jsonl`, 'it is a link'],
      ['.claude/projects/linked', 'it is a link'],
    ])
  })

  it('a file that took a name the archive refuses is reported, and the others go on', async () => {
    const here = await laptop()
    here.write(`${CLAUDE}/s1.jsonl`, rows(0, 1))
    here.write(`${CLAUDE}/s1/tool-results/a\\b.txt`, 'x')
    const { outcomes, unread } = await here.sync()
    expect(outcomes).toEqual({ s1: 'archived' })
    expect(unread.map(({ reason }) => reason)).toEqual([expect.stringContaining('\\')])
  })
})
