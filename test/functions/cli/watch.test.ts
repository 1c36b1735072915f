import { appendFileSync, chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FEATURES_OFFERED } from '../../../functions/api/features.ts'
import { say } from '../../kit/stored-run.ts'
import { lostRequest, type Server, startServer } from '../../shared/client/kit.ts'
import { archived } from '../daemon/kit.ts'
import { cliIn, demoBytes } from './kit.ts'

const URL_OF_SERVER = 'https://runfold.example'

/** A machine with a folder of runs, and a server that it reaches. */
const machine = async (given?: Server) => {
  const server = given ?? (await startServer())
  const env = { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token }
  const cli = cliIn({ env, fetch: server.fetch })
  const place = (name: string, bytes: Uint8Array) => {
    mkdirSync(join(cli.folder, 'runs', name), { recursive: true, mode: 0o700 })
    const path = join(cli.folder, 'runs', name, 'run.lvr')
    writeFileSync(path, bytes, { mode: 0o600 })
    return path
  }
  return { ...cli, server, place }
}

const eventsOf = (lines: readonly Record<string, unknown>[]) => lines.map(({ event }) => event)

describe('runfold watch --once', () => {
  it('sends every run of the folder, tells so in JSON lines, and gives the leases back', async () => {
    const { run, server, place } = await machine()
    place('one', demoBytes(60, 1))
    place('two', demoBytes(60, 2))
    const { code, lines } = await run('watch runs --once')
    expect(code).toBe(0)
    expect(eventsOf(lines)).toEqual(['started', 'shipped', 'shipped', 'ended'])
    expect(await archived(server, 'one')).toEqual(demoBytes(60, 1))
    expect(await archived(server, 'two')).toEqual(demoBytes(60, 2))
    expect((await server.client.leaseState('one')).lease).toBeNull()
  })

  it('asks the server for nothing when nothing is new', async () => {
    const { run, server, place } = await machine()
    place('one', demoBytes())
    await run('watch runs --once')
    const { length } = server.requests
    expect(eventsOf((await run('watch runs --once')).lines)).toEqual(['started', 'ended'])
    expect(server.requests).toHaveLength(length)
  })

  it('tells a person on a terminal the same in words', async () => {
    const { run, place } = await machine()
    place('one', demoBytes())
    const { out } = await run('watch runs --once', { isTerminal: true })
    expect(out).toMatch(/watching 1 run in .*\n.*one: sent .* are on the server\n.*everything is sent\n$/)
  })

  it('takes an archive that lies in the folder itself by its name, and leaves other names alone', async () => {
    const { run, server, folder, place } = await machine()
    place('one', demoBytes())
    writeFileSync(join(folder, 'runs', 'two.lvr'), demoBytes(60, 2))
    writeFileSync(join(folder, 'runs', 'no run!.lvr'), demoBytes())
    writeFileSync(join(folder, 'runs', 'notes.txt'), 'hello')
    const { lines } = await run('watch runs --once')
    expect(lines[0]).toMatchObject({ event: 'ignored', detail: expect.stringContaining('a run_id is') })
    expect(await archived(server, 'two')).toEqual(demoBytes(60, 2))
  })

  it('ends with the code of what went wrong, and sends the others all the same', async () => {
    const { run, server, place } = await machine()
    await server.client.acquire('held', { machine_id: 'm', world_id: 'w' })
    place('held', demoBytes(60, 1))
    place('free', demoBytes(60, 2))
    expect((await run('watch runs --once')).code).toBe(6)
    expect(await archived(server, 'free')).toEqual(demoBytes(60, 2))
  })

  it('says that the server is away, and sends everything next time', async () => {
    const { run, server, place } = await machine()
    place('one', demoBytes())
    server.mishaps.push(...Array.from({ length: 3 }, () => lostRequest))
    const away = await run('watch runs --once')
    expect(away.code).toBe(5)
    expect(eventsOf(away.lines)).toEqual(['started', 'outage', 'ended'])
    expect(away.lines.at(-1)).toMatchObject({ unsent: 1 })
    expect((await run('watch runs --once')).code).toBe(0)
    expect(await archived(server, 'one')).toEqual(demoBytes())
  })

  it('does not knock for every run at a door that is shut', async () => {
    const { run, server, place } = await machine()
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) place(`run-${seed}`, demoBytes(60, seed))
    server.mishaps.push(...Array.from({ length: 50 }, () => lostRequest))
    const { lines } = await run('watch runs --once')
    expect(lines.at(-1)).toMatchObject({ event: 'ended', unsent: 8 })
    // Those that were under way side by side, each with the client's own attempts.
    expect(server.requests.length).toBeLessThanOrEqual(4 * 3)
  })

  it('needs no more than to append', async () => {
    const { run, server, place } = await machine()
    place('one', demoBytes())
    const { token } = await server.client.makeToken({ name: 'writer', scopes: ['append'] })
    const env = { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: token }
    expect((await run('watch runs --once', { env })).code).toBe(0)
    expect(await archived(server, 'one')).toEqual(demoBytes())
    place('one', demoBytes(80, 1))
    place('other', demoBytes(60, 2))
    await server.client.acquire('other', { machine_id: 'm', world_id: 'w' })
    expect((await run('watch runs --once', { env })).code).not.toBe(0)
    expect((await server.client.tail('other')).tail).toBe(0)
  })

  it('refuses a folder that is not there', async () => {
    const { run } = await machine()
    expect(await run('watch elsewhere --once')).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no folder'),
    })
  })
})

describe('runfold status', () => {
  it('shows what the server has of each run, what it lacks, and why', async () => {
    const { run, place } = await machine()
    const grown = place('grown', demoBytes(60, 1))
    const cut = place('cut', demoBytes(60, 2))
    place('fine', demoBytes(60, 3))
    await run('watch runs --once')
    appendFileSync(grown, 'xxx')
    truncateSync(cut, 100)
    await run('watch runs --once')
    const { lines } = await run('status runs --json')
    const whole = demoBytes(60, 1).length
    expect(lines).toMatchObject([
      { run_id: 'cut', file_bytes: 100, lag_bytes: 0, trouble: { code: 'truncated', stops: true } },
      { run_id: 'fine', lag_bytes: 0, trouble: null },
      { run_id: 'grown', file_bytes: whole + 3, archived_bytes: whole, lag_bytes: 3, torn_bytes: 3 },
    ])
    const { out } = await run('status runs --behind')
    expect(out).toMatch(
      /^RUN +ARCHIVED +FILE +LAG.*\ncut .*truncated: .*\ngrown .*3 bytes are no whole frame yet\nno `runfold watch` is .*\n$/,
    )
  })

  it('works before anything was ever sent, and without a server', async () => {
    const { run, place } = await machine()
    place('one', demoBytes())
    const { lines } = await run('status runs --json', { env: {} })
    expect(lines).toMatchObject([{ archived_bytes: 0, lag_bytes: demoBytes().length, sent_at: null }])
  })
})

describe('runfold doctor', () => {
  const states = (lines: readonly Record<string, unknown>[]) =>
    Object.fromEntries(lines.map(({ check, state }) => [check, state]))

  it('finds nothing bad where nothing is', async () => {
    const { run, place } = await machine()
    place('one', demoBytes())
    const { code, lines } = await run('doctor runs --json')
    expect(code).toBe(0)
    expect(states(lines)).toMatchObject({
      connection: 'ok',
      server: 'ok',
      token: 'ok',
      folder: 'ok',
      state: 'ok',
    })
  })

  it('looks at sessions also where there are no runs, and blames only whoever names a folder', async () => {
    const { run, folder } = await machine(await startServer(undefined, FEATURES_OFFERED))
    mkdirSync(join(folder, '.codex', 'sessions'), { recursive: true })
    const unnamed = await run('doctor --json')
    expect(unnamed.code).toBe(0)
    expect(states(unnamed.lines)).toMatchObject({ token: 'ok', folder: 'warning', sessions: 'ok' })
    const named = await run('doctor elsewhere --json')
    expect([named.code, named.err]).toEqual([1, ''])
    expect(states(named.lines)).toMatchObject({ folder: 'bad', sessions: 'ok' })
  })

  it('says how to mend each thing that is wrong', async () => {
    const { run, server, place } = await machine()
    chmodSync(place('one', demoBytes()), 0o644)
    const { token } = await server.client.makeToken({ name: 'reader', scopes: ['read'] })
    const { code, lines } = await run('doctor runs --json', {
      env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: token },
    })
    expect(code).toBe(1)
    const bad = lines.filter(({ state }) => state !== 'ok')
    expect(bad).toMatchObject([
      { check: 'token', state: 'bad', found: expect.stringContaining('lacks append') },
      { check: 'token', state: 'warning', found: expect.stringContaining('lacks resume') },
      { check: 'files', state: 'warning', mend: expect.stringContaining('chmod 700') },
      { check: 'watch', state: 'warning' },
    ])
    for (const { mend } of bad) expect(mend).toBeTruthy()
  })

  it('knows what a token may do that is bound to a prefix', async () => {
    const { run, server, place } = await machine()
    place('one', demoBytes())
    const scopes = ['append', 'read', 'resume'] as const
    const { token } = await server.client.makeToken({ name: 'bound', scopes: [...scopes], run_prefix: 'on' })
    const { lines } = await run('doctor runs --json', {
      env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: token },
    })
    expect(lines.find(({ check }) => check === 'token')).toMatchObject({
      state: 'ok',
      found: 'is taken; scopes append, read, resume, for runs that begin with on',
    })
  })

  it('counts one of a thing as one, and names the folder in what to do', async () => {
    const { run, server, place, folder } = await machine()
    place('one', demoBytes())
    await run('push runs/one/run.lvr --run one')
    const { epoch, tail } = await server.client.acquire('one', { machine_id: 'other', world_id: 'w' })
    await server.client.append('one', { epoch, offset: tail, bytes: say('elsewhere') })
    await run('watch runs --once')
    const { lines } = await run('doctor runs --json')
    const told = (check: string) => lines.find((line) => line.check === check)
    const runs = join(folder, 'runs')
    expect(told('folder')).toMatchObject({ found: `1 run in ${runs}` })
    expect(told('watch')?.mend).toContain(`runfold watch ${runs}`)
    expect(told('run')).toMatchObject({ found: expect.stringContaining('one: ') })
    expect(told('run')?.mend).toContain(`runfold resume one --to ${runs}`)
  })

  it('leaves no trace on the server', async () => {
    const { run, server, place } = await machine()
    place('one', demoBytes())
    await run('doctor runs')
    expect((await server.client.list()).items).toEqual([])
  })

  it('tells a clock that is off, a token that is wrong, and a server that is none', async () => {
    const { run, server, place } = await machine()
    place('one', demoBytes())
    const late: typeof fetch = async (...request) => {
      const answer = await server.fetch(...request)
      answer.headers.set('date', new Date(Date.now() - 3_600_000).toUTCString())
      return answer
    }
    const off = await run('doctor runs --json', { fetch: late })
    expect(off.lines.find(({ check }) => check === 'clock')).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/^is 3\d\d\d s ahead of the server’s$/),
    })
    const env = { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: 'wrong' }
    const wrong = await run('doctor runs --json', { env })
    expect(states(wrong.lines)).toMatchObject({ server: 'ok', token: 'bad' })
    const page: typeof fetch = async () =>
      new Response('<html>', { headers: { 'content-type': 'text/html' } })
    const none = await run('doctor runs --json', { fetch: page })
    expect(none.code).toBe(1)
    expect(states(none.lines)).toMatchObject({ server: 'bad', folder: 'ok' })
  })

  it('repeats the trouble that the watcher met, with what ends it', async () => {
    const { run, place } = await machine()
    const path = place('one', demoBytes())
    await run('watch runs --once')
    truncateSync(path, 100)
    await run('watch runs --once')
    const { lines } = await run('doctor runs --json')
    expect(lines.at(-1)).toMatchObject({
      check: 'run',
      state: 'bad',
      found: expect.stringContaining('one: truncated'),
      mend: expect.stringContaining('runfold pull one'),
    })
  })
})
