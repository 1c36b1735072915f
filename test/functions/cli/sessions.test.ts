import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { archived, ID, MAIN, TOKEN, TRANSCRIPT, user } from './sessions-kit.ts'

describe('sync', () => {
  it('ends with its summary, and says what is wrong a line each', async () => {
    const { synced, run } = await archived()
    expect(synced).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^secrets in what was new: GITHUB_TOKEN 1$/m),
    })
    expect(synced.out).toBe(
      `0 archived, 0 skipped, 1 partial, 0 failed of 1 sessions; ${(Buffer.byteLength(TRANSCRIPT) + 14).toLocaleString('en-US')} bytes sent\n`,
    )
    expect(synced.err).toContain('partial: claude-code 5e551011: 1 bad line at 5')
    expect((await run('sync')).out).toBe(
      '0 archived, 0 skipped, 1 partial, 0 failed of 1 sessions; 0 bytes sent\n',
    )
    expect((await run('sync --json')).lines.at(-1)).toEqual({
      summary: { archived: 0, skipped: 0, partial: 1, failed: 0, bytes_sent: 0 },
    })
  })

  it('says a home without sessions, and knows the harness by its short name', async () => {
    const { run, folder } = await archived()
    mkdirSync(join(folder, '.codex'))
    const { err, out, code } = await run('sync --harness codex,claude')
    expect(err).toContain('codex: there is a home at')
    expect(out).toContain('of 1 sessions')
    expect(code).toBe(0)
    expect((await run('sync --harness kimicode')).code).toBe(2)
  })
})

describe('watch --sessions', () => {
  it('says what it watches before it sends anything', async () => {
    const { run, server, write } = await archived()
    write(MAIN, `${TRANSCRIPT}${user('u5', 'More')}`)
    const ctrlC = new AbortController()
    const fetch: typeof globalThis.fetch = (input, init) => {
      if (init?.method === 'POST') ctrlC.abort()
      return server.fetch(input, init)
    }
    const { lines } = await run('watch --sessions', { fetch, signal: ctrlC.signal })
    expect(lines[0]).toMatchObject({ event: 'watching', sessions: 1 })
  })
})

describe('reading', () => {
  it('ls names what is archived, and show reads it by the beginning of its id', async () => {
    const { run } = await archived()
    expect((await run('sessions ls')).out).toMatch(
      /5e551011\s+claude-code\s+2026-11-02T09:00:\d\dZ\s+4\s+box/,
    )
    const { out, err, code } = await run('sessions show 5e55')
    expect(code).toBe(0)
    for (const text of [
      'thinking: first line … 1 more line',
      '→ Bash',
      '9007199254740993',
      '← Bash failed',
      '[image',
    ])
      expect(out).toContain(text)
    expect(out).not.toContain('\u001b[31m')
    expect(out).toContain('\\u001b[31m')
    expect(err).toContain(`problem: bad_json in ${ID}.jsonl at line 5`)
    expect((await run('sessions show 5e55 --full')).out).toContain('second line')
  })

  it('ls says where it was cut, for a person and a program', async () => {
    const { run, write } = await archived()
    for (const name of ['one1', 'two2']) write(`.claude/projects/-w/${name}.jsonl`, user('u1', name))
    await run('sync')
    const cut = await run('sessions ls -n 2 --harness claude,codex')
    expect([cut.out.split('\n').length, cut.err]).toEqual([
      4,
      'there may be more than these 2; --all shows them\n',
    ])
    expect(JSON.parse((await run('sessions ls -n 2 --json')).err)).toMatchObject({ note: 'more' })
    for (const line of ['', ' -n 3', ' -n 1 --all']) {
      const { out, err } = await run(`sessions ls${line}`)
      expect([out.split('\n').length, err]).toEqual([5, ''])
    }
  })

  it('too short a beginning of an id is told how many characters it needs', async () => {
    const { run } = await archived()
    expect(await run('sessions show 5e5')).toMatchObject({
      code: 2,
      err: expect.stringContaining('at least 4 characters'),
    })
  })

  it('an id that may be several is refused, naming them', async () => {
    const { run, write } = await archived()
    write('.claude/projects/-w/5e551099.jsonl', user('u1', 'x'))
    await run('sync')
    const { code, err } = await run('sessions show 5e55')
    expect(code).toBe(2)
    expect(err).toContain('5e551099')
    expect((await run('sessions show 5e551099')).code).toBe(0)
    expect((await run('sessions show nobody')).code).toBe(3)
  })
})

describe('export', () => {
  it('shows no secret unless it is told to', async () => {
    const { run } = await archived()
    for (const format of ['md', 'html', 'json']) {
      const { out } = await run(`sessions export 5e55 --format ${format}`)
      expect(out, format).not.toContain(TOKEN)
      expect(out, format).toMatch(/(<|&lt;)redacted GITHUB_TOKEN(>|&gt;)/)
      expect((await run(`sessions export 5e55 --format ${format} --no-redact`)).out, format).toContain(TOKEN)
    }
  })

  it('as JSON it is the document, byte for byte when nothing is redacted, and well-formed when something is', async () => {
    const { run, server } = await archived()
    const name = { harness: 'claude-code', id: ID } as const
    const parts: Uint8Array[] = []
    for await (const chunk of (await server.client.sessionDocument(name)).chunks) parts.push(chunk)
    const { bytes } = await run('sessions export 5e55 --format json --no-redact')
    expect(bytes.equals(Buffer.concat(parts))).toBe(true)
    const { out } = await run('sessions export 5e55 --format json')
    expect(JSON.parse(out).messages).toHaveLength(4)
    expect(out).toContain('9007199254740993')
  })

  it('HTML holds no markup of the session, no script, and fetches nothing', async () => {
    const { run, folder } = await archived()
    await run('sessions export 5e55 --format html -o out.html')
    const html = readFileSync(join(folder, 'out.html'), 'utf8')
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html).not.toMatch(/<script|<img|<link|<iframe/i)
    expect(html).toContain(`content="default-src 'none'`)
    expect(html).not.toContain('\u001b')
  })

  it('replaces no file unasked', async () => {
    const { run, write, folder } = await archived()
    write('mine.md', 'precious')
    expect(await run('sessions export 5e55 -o mine.md')).toMatchObject({
      code: 2,
      err: expect.stringContaining('is there already; replace it with --force'),
    })
    expect(readFileSync(join(folder, 'mine.md'), 'utf8')).toBe('precious')
    expect(await run('sessions export 5e55 -o mine.md --force')).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'mine.md'), 'utf8')).toContain('# ')
  })

  it('in Markdown nothing of the session becomes a heading or ends its fence', async () => {
    const { run } = await archived()
    const { out } = await run('sessions export 5e55')
    const headings = out.split('\n').filter((line) => /^#/.test(line))
    expect(
      headings.every((line) => /^# Mend it|^## (user|assistant|tool|Problems)|^# not a heading$/.test(line)),
    ).toBe(true)
    expect(out).toContain('`````\n```\n# not a heading\n````\n`````')
  })
})

it.each(['sync --json', 'sessions restore 5e55 --to-dir other/.claude --json', 'sessions ls --json'])(
  'the rows of %s have names of one spelling',
  async (command) => {
    const { run } = await archived()
    const names = (await run(command)).lines.flatMap((row) => Object.keys(row))
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter((name) => !/^[a-z_]+$/.test(name))).toEqual([])
  },
)

it('rm deletes a session for good', async () => {
  const { run } = await archived()
  expect((await run('sessions rm 5e55')).out).toContain(`deleted claude-code ${ID}`)
  expect((await run('sessions ls')).out).toContain('no sessions')
})

it('doctor tells of sessions that are not archived, and of what will delete them', async () => {
  const { run, write } = await archived()
  write('.claude/projects/-w/new.jsonl', user('u1', 'x'))
  write('.claude/settings.json', '{"cleanupPeriodDays": 12, "env": {"SECRET": "do not read"}}')
  mkdirSync(join((await archived()).folder, 'runs'))
  const { out } = await run('doctor .')
  expect(out).toContain('1 of 2 sessions on this machine is not archived')
  expect(out).toContain('deletes transcripts 12 days after')
})
