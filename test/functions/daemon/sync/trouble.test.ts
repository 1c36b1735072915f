import { appendFileSync, chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { lostAnswer, lostRequest, startServer } from '../../../shared/client/kit.ts'
import { CLAUDE, laptop, rows } from './kit.ts'

const MAIN = `${CLAUDE}/s1.jsonl`
const SOURCES = { 's1.jsonl': MAIN }

describe('failure', () => {
  it('19: a database that is lost or unreadable costs a question a session and a reading, and sends nothing', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 40))
    here.write(`${CLAUDE}/s1/tool-results/a.txt`, 'x')
    await here.sync()
    for (const ruin of [
      () => rmSync(here.path('.state'), { recursive: true }),
      () => {
        const folder = here.path('.state/runfold/sessions')
        const [name] = readdirSync(folder)
        rmSync(`${folder}/${name}/sync.sqlite-wal`, { force: true })
        rmSync(`${folder}/${name}/sync.sqlite-shm`, { force: true })
        writeFileSync(`${folder}/${name}/sync.sqlite`, 'this is no database at all, whatever it was before')
      },
      () => {
        const folder = here.path('.state/runfold/sessions')
        const file = `${folder}/${readdirSync(folder)[0]}/sync.sqlite`
        const bytes = readFileSync(file)
        writeFileSync(file, bytes.fill(0xa5, 4096)) // its first page is sound
      },
      () => {
        const folder = here.path('.state/runfold/sessions')
        using database = new DatabaseSync(`${folder}/${readdirSync(folder)[0]}/sync.sqlite`)
        database.exec(`UPDATE file SET state = '{"generation":1,'`)
      },
    ]) {
      ruin()
      const { outcomes, counters } = await here.sync()
      expect(outcomes).toEqual({ s1: 'skipped' })
      expect(counters).toMatchObject({ bytes_sent: 0, requests: 1 })
      const idle = { bytes_read: 0, bytes_sent: 0, requests: 0 }
      expect((await here.sync()).counters, 'once').toEqual(idle)
    }
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('an answer that is lost is asked for again, and nothing is there twice', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 40))
    const asked =
      (mishap: typeof lostAnswer): typeof lostAnswer =>
      async (request, answer) =>
        request.method === 'POST' ? mishap(request, answer) : answer()
    here.server.mishaps.push(asked(lostAnswer), asked(lostAnswer), asked(lostAnswer), asked(lostAnswer))
    await here.sync()
    await here.sync()
    expect((await here.sync()).outcomes).toEqual({ s1: 'skipped' })
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('a server that is away fails the pass once, and the next one sends everything', async () => {
    const here = await laptop()
    for (let n = 0; n < 30; n++) here.write(`${CLAUDE}/s${n}.jsonl`, rows(0, 3, `of session ${n}`))
    const posts: string[] = []
    const away = { ...here.server, mishaps: here.server.mishaps }
    for (let n = 0; n < 400; n++)
      away.mishaps.push(async (request, answer) => {
        if (!request.url.includes('/sessions/')) return answer()
        posts.push(request.url)
        return lostRequest(request, answer)
      })
    const { sessions } = await here.sync()
    expect(sessions.every(({ outcome }) => outcome === 'failed')).toBe(true)
    expect(posts.length).toBeLessThan(20)
    here.server.mishaps.length = 0
    expect((await here.sync()).sessions.every(({ outcome }) => outcome === 'archived')).toBe(true)
  })

  it('a batch that is too large for the server is sent in smaller ones', async () => {
    const here = await laptop(await startServer(8192, ['sessions']))
    here.write(MAIN, rows(0, 400))
    expect((await here.sync()).outcomes).toEqual({ s1: 'archived' })
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('one file that cannot be read does not keep the others', async () => {
    if (process.getuid?.() === 0) return // root reads everything
    const here = await laptop()
    here.write(MAIN, rows(0, 4))
    here.write(`${CLAUDE}/s1/tool-results/a.txt`, 'x')
    chmodSync(here.path(`${CLAUDE}/s1/tool-results/a.txt`), 0)
    const { sessions } = await here.sync()
    expect(sessions[0]).toMatchObject({ outcome: 'partial', problems: [expect.stringContaining('a.txt')] })
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('21: a source that grows while it is sent: a true prefix is there, nothing is remembered, the next pass ends right', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 40))
    here.server.mishaps.push(
      async (_, answer) => answer(),
      async (_, answer) => answer(),
      async (_, answer) => {
        appendFileSync(here.path(MAIN), rows(40, 45))
        return answer()
      },
    )
    await here.sync()
    const stored = await here.raw('claude-code', 's1', 's1.jsonl')
    expect(rows(0, 45).startsWith(stored.toString())).toBe(true)
    const next = await here.sync()
    expect(next.counters.bytes_read).toBeGreaterThan(0)
    await here.expectExact('claude-code', 's1', SOURCES)
    expect((await here.sync()).counters.bytes_read).toBe(0)
  })

  it('24: two syncs of one session at once lose nothing and double nothing', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 400))
    await Promise.all([here.sync(), here.sync(), here.sync()])
    appendFileSync(here.path(MAIN), rows(400, 500))
    await Promise.all([here.sync(), here.sync()])
    expect((await here.files('claude-code', 's1')).map(({ generation }) => generation)).toEqual([1])
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('a server that has more of a file than lies here gets a next generation, and keeps what it has', async () => {
    const server = await startServer(undefined, ['sessions'])
    const first = await laptop(server)
    first.write(MAIN, rows(0, 40))
    await first.sync()
    const second = await laptop(server)
    second.write(MAIN, rows(0, 10))
    await second.sync()
    expect(
      (await second.files('claude-code', 's1')).map(({ generation, tail }) => [generation, tail]),
    ).toEqual([
      [1, rows(0, 40).length],
      [2, rows(0, 10).length],
    ])
  })
})

describe('verify', () => {
  it('15: a change that is hidden from every stat value is found by --verify alone', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 40))
    await here.sync()
    writeFileSync(here.path(MAIN), rows(0, 40).replace('something', 'SOMETHING'))
    // As if the file system had not told: what is remembered is said to be of this very file.
    const { openSyncStates } = await import('../../../../functions/daemon/sync/states.ts')
    const { lookAt } = await import('../../../../functions/daemon/sync/source-file.ts')
    const [name] = readdirSync(here.path('.state/runfold/sessions'))
    using states = openSyncStates(here.path(`.state/runfold/sessions/${name}`))
    const session = { harness: 'claude-code', id: 's1' } as const
    const known = states.file(session, 's1.jsonl')
    const identity = await lookAt(here.path(MAIN))
    if (!known || !identity) throw new Error('nothing is remembered')
    states.put(session, 's1.jsonl', here.path(MAIN), { ...known, identity })
    expect((await here.sync()).outcomes).toEqual({ s1: 'skipped' })
    expect((await here.sync({ verifies: true })).outcomes).toEqual({ s1: 'archived' })
    expect((await here.files('claude-code', 's1')).map(({ generation }) => generation)).toEqual([1, 2])
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('finds nothing to do where nothing is wrong', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 40))
    await here.sync()
    const { outcomes, counters } = await here.sync({ verifies: true })
    expect(outcomes).toEqual({ s1: 'skipped' })
    expect(counters.bytes_sent).toBe(0)
    expect(counters.bytes_read).toBeGreaterThanOrEqual(rows(0, 40).length)
  })
})

describe('choosing', () => {
  it('only the harnesses and the folder that are named; a dry run sends nothing', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 2))
    here.write(`${CLAUDE}/s2.jsonl`, rows(0, 2).replaceAll('"cwd":"/w"', '"cwd":"/other"'))
    expect((await here.sync({ harnesses: ['codex'] })).outcomes).toEqual({})
    expect((await here.sync({ cwd: '/w', isDry: true })).sessions).toMatchObject([
      { id: 's1', outcome: 'archived', bytes: rows(0, 2).length },
    ])
    expect(here.server.requests.filter((each) => each.startsWith('POST'))).toEqual([])
    expect((await here.sync({ cwd: '/w' })).outcomes).toEqual({ s1: 'archived' })
    expect((await here.sync()).outcomes).toEqual({ s1: 'skipped', s2: 'archived' })
  })
})

describe('secrets', () => {
  const token = ['ghp', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('_')

  it('are counted by family in what is new, and never told', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 2, `my key is ${token}`))
    const { sessions } = await here.sync({ looksForSecrets: true })
    expect(Object.fromEntries(sessions[0]?.secrets ?? [])).toEqual({ GITHUB_TOKEN: 2 })
    expect(JSON.stringify(sessions.map(({ problems }) => problems))).not.toContain(token)
    appendFileSync(here.path(MAIN), rows(2, 3))
    expect((await here.sync({ looksForSecrets: true })).sessions[0]?.secrets.size).toBe(0)
  })

  it('hold a file back when they are refused, until they are allowed', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 2, `my key is ${token}`))
    here.write(`${CLAUDE}/s1/tool-results/a.txt`, 'harmless')
    const refusing = { looksForSecrets: true, refusesSecrets: true }
    const { sessions } = await here.sync(refusing)
    expect(sessions[0]).toMatchObject({
      outcome: 'partial',
      problems: expect.arrayContaining(['s1.jsonl: held back, GITHUB_TOKEN 2']),
    })
    expect((await here.files('claude-code', 's1')).map(({ path }) => path)).toEqual(['s1/tool-results/a.txt'])
    expect((await here.sync()).outcomes).toEqual({ s1: 'archived' })
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('are found in blocks of any length, once each, also across two of them', async () => {
    const { scanForSecrets } = await import('../../../../functions/daemon/sync/secret-scan.ts')
    const filler = `${'x'.repeat(99)} `.repeat(10_480)
    const text = `${filler}${token} ${filler}${token}\n${filler} ${token}`
    for (const size of [1 << 16, 1_048_600, 1_050_000]) {
      const chunks = async function* () {
        for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
      }
      expect(Object.fromEntries(await scanForSecrets(chunks())), `${size}`).toEqual({ GITHUB_TOKEN: 3 })
    }
  })
})
