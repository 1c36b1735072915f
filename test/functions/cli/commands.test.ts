import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { explain } from '../../../functions/cli/explain.ts'
import { BrokenPipe } from '../../../functions/cli/io.ts'
import { refused, startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { cliIn, demoBytes } from './kit.ts'

const withServer = async () => {
  const server = await startServer()
  const cli = cliIn({ fetch: server.fetch, env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token } })
  return { server, ...cli }
}

const COMMANDS = [
  ['serve'],
  ['demo'],
  ['push'],
  ['watch'],
  ['status'],
  ['sync'],
  ['sessions', 'ls'],
  ['sessions', 'show'],
  ['sessions', 'export'],
  ['sessions', 'restore'],
  ['sessions', 'rm'],
  ['doctor'],
  ['release'],
  ['resume'],
  ['claim'],
  ['pull'],
  ['copy'],
  ['ls'],
  ['show'],
  ['fold'],
  ['replay'],
  ['records'],
  ['tail'],
  ['diff'],
  ['usage'],
  ['verify'],
  ['inspect'],
  ['fork'],
  ['lease', 'show'],
  ['lease', 'acquire'],
  ['lease', 'renew'],
  ['lease', 'release'],
  ['token', 'make'],
  ['token', 'first'],
  ['token', 'ls'],
  ['token', 'rm'],
  ['rm'],
  ['rebuild'],
]

describe('help', () => {
  it.each(COMMANDS)('explains %s %s with an example and the global options', async (...words) => {
    const { run } = cliIn()
    const { code, out } = await run([...words.filter(Boolean), '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`$ runfold ${words.filter(Boolean).join(' ')}`)
    expect(out).toContain('--json')
  })

  it.each(['', 'sessions', 'lease', 'token'])('names every command of %s in a phrase', async (group) => {
    const { run } = cliIn()
    const { out } = await run([...group.split(' ').filter(Boolean), '--help'])
    const commands = /\nCommands:\n((?: {2}.*\n)+)/.exec(out)?.[1] ?? ''
    const known = COMMANDS.map((words) =>
      group ? words.filter((_, n) => words[0] === group && n > 0) : words,
    )
    for (const [name] of known.filter(([name]) => name))
      expect(commands).toMatch(new RegExp(`^  ${name} .*  [a-z]`, 'm'))
    expect(commands).not.toMatch(/\.\s/)
  })

  it('tells the exit codes', async () => {
    const { run } = cliIn()
    expect((await run('help exit-codes')).out).toContain('    7  fenced')
    expect((await run('exit-codes')).out).toContain('  130  interrupted')
    expect((await run('--help')).out).toContain('RUNFOLD_TOKEN')
  })

  it.each([
    '',
    'nonsense',
    'ls --nonsense',
    'fold',
    'ls --limit 0',
    'records x.lvr --kind Nonsense',
    'lease',
    '--url ftp://x ls',
    'pull a/b',
    'replay x.lvr --shape delta --step 2',
    'push x.lvr --run a/b',
  ])('a wrong command line is refused in words: %s', async (line) => {
    const { run } = cliIn()
    const { code, out, err } = await run(line === '' ? [] : line)
    expect([code, out]).toEqual([2, ''])
    expect(err).not.toMatch(/\n\s+at /)
    if (line !== '' && line !== 'lease') expect(err).toMatch(/^runfold: /)
  })
})

describe('what a server refuses', () => {
  it.each(['pull nope', 'pull nope -', 'tail nope', 'show nope', 'fold nope'])(
    'is said in its own words: %s',
    async (line) => {
      const { run } = await withServer()
      const { code, err } = await run(line)
      expect([code, err]).toEqual([3, 'runfold: not_found: there is no such run\n'])
    },
  )

  it('is said once', async () => {
    const { run } = await withServer()
    const { code, err } = await run(['fold', 'a b'])
    expect(code).toBe(2)
    expect(err.split('1 to 128')).toHaveLength(2)
  })

  it('is every issue, where there are several', () => {
    const issues = ['a', 'b'].map((path) => ({ path, message: 'is not known here' }))
    const error = new RunfoldError('bad_request', 'a: is not known here', { issues })
    expect(explain(error).text).toBe('bad_request: a: is not known here; b: is not known here')
    const past = [{ path: 'expires_at', message: 'is in the past' }]
    const said = new RunfoldError('bad_request', 'expires_at is in the past', { issues: past })
    expect(explain(said).text).toBe('bad_request: expires_at is in the past')
  })
})

describe('looking at a server', () => {
  it('lists, shows and removes runs', async () => {
    const { run, write } = await withServer()
    expect((await run('ls')).out).toBe('no runs\n')
    write('a.lvr', demoBytes(60))
    await run('push a.lvr')
    await run('push a.lvr --run again')
    expect((await run('ls --json')).lines.map((card) => card.run_id)).toEqual(['again', 'demo-1'])
    expect((await run('ls --json --limit 1')).lines).toHaveLength(1)
    expect((await run('ls -q nothing-like-it')).out).toBe('no runs\n')
    expect((await run('ls --status nonsense')).code).toBe(2)
    expect((await run('show again')).out).toContain('60 frames')
    expect((await run('show again --json')).lines[0]).toMatchObject({ run_id: 'again', frames: 60 })
    expect(await run('rm again demo-1')).toMatchObject({ code: 0, out: 'removed again\nremoved demo-1\n' })
    expect(await run('show again')).toMatchObject({ code: 3, out: '' })
  })

  it('walks every page with --all', async () => {
    const { run, server } = await withServer()
    for (let i = 0; i < 7; i++) await server.client.acquire(`r${i}`, { machine_id: 'm', world_id: 'w' })
    const { fetch } = server
    // A server with pages of three.
    const small: typeof fetch = (input, init) => fetch(String(input).replace(/limit=\d+/, 'limit=3'), init)
    const { lines } = await run('ls --all --json', { fetch: small })
    expect(lines.map((card) => card.run_id).sort()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6'])
  })

  it('gives the same answers as the file that was pushed', async () => {
    const { run, write } = await withServer()
    write('a.lvr', demoBytes(120))
    await run('push a.lvr')
    for (const [verb, rest] of [
      ['records', '--json'],
      ['fold', '--json --point 7'],
      ['replay', '--json --shape delta'],
      ['replay', '--json --shape full --from 3'],
      ['replay', '--json --step 5'],
      ['diff', '2 9 --json'],
      ['inspect', '--json'],
      ['records', '--kind Progress'],
      ['fold', '--entries'],
      ['verify', ''],
    ] as const) {
      const [local, remote] = [
        await run(`${verb} a.lvr ${rest}`.trim()),
        await run(`${verb} demo-1 ${rest}`.trim()),
      ]
      expect(remote.out, `${verb} ${rest}`).toBe(local.out)
      expect(remote.out.length).toBeGreaterThan(50)
    }
  })

  it('holds, renews and gives back a lease', async () => {
    const { run } = await withServer()
    const [first] = (await run('lease acquire r --machine m --world w --json')).lines
    expect(first).toMatchObject({ epoch: 1, lease: { machine_id: 'm', world_id: 'w' } })
    expect((await run('lease renew r --epoch 1 --ttl 100 --json')).lines[0]).toMatchObject({
      lease: { ttl_s: 100 },
    })
    expect(await run('lease acquire r')).toMatchObject({ code: 6 })
    expect((await run('lease acquire r --force --json')).lines[0]).toMatchObject({ epoch: 2 })
    expect(await run('lease renew r --epoch 1')).toMatchObject({ code: 7 })
    expect((await run('lease release r --epoch 2')).out).toBe('released r\n')
    expect((await run('lease show r')).out).toMatch(/nobody[\s\S]*by force[\s\S]*as it was free/)
    expect(await run('lease acquire r --machine a/b --world w')).toMatchObject({ code: 2 })
  })

  it('makes, lists and revokes tokens; standard output holds the token alone', async () => {
    const { run } = await withServer()
    const made = await run('token make ci --scopes read --prefix ci-')
    const token = made.out.trim()
    expect(made.out).toBe(`${token}\n`)
    expect(
      await run('show elsewhere', { env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: token } }),
    ).toMatchObject({ out: '' })
    const listed = await run('token ls --json')
    expect(listed.out).not.toContain(token)
    const row = listed.lines.find(({ name }) => name === 'ci')
    expect(row).toMatchObject({ scopes: ['read'], run_prefix: 'ci-' })
    expect((await run(`token rm ${row?.token_id}`)).code).toBe(0)
    expect(await run('token make ci --scopes everything')).toMatchObject({ code: 2 })
    expect(await run('token make ci --scopes read --expires tomorrow')).toMatchObject({ code: 2 })
  })
})

describe('which token is shown to whom', () => {
  const heard = () => {
    const seen: (string | null)[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      seen.push(new Request(input, init).headers.get('authorization'))
      return refused(401, 'unauthorized')(new Request(input), async () => new Response())
    }
    return { seen, fetch }
  }

  it('the token of a local server is read from its data folder, and sent to this machine only', async () => {
    const { seen, fetch } = heard()
    const { run, folder } = cliIn({ fetch })
    mkdirSync(join(folder, 'runfold-data'))
    writeFileSync(join(folder, 'runfold-data', 'admin-token'), 'rf_local\n')
    expect(await run('ls')).toMatchObject({ code: 4 })
    expect((await run('ls --url https://elsewhere.example')).err).toContain('RUNFOLD_TOKEN')
    await run('ls', { env: { RUNFOLD_TOKEN: 'rf_own' } })
    expect(seen).toEqual(['Bearer rf_local', null, 'Bearer rf_own'])
  })

  it('warns where the token would travel in clear', async () => {
    const { fetch } = heard()
    const { run } = cliIn({ fetch, env: { RUNFOLD_TOKEN: 'rf_own' } })
    expect((await run('ls --url http://elsewhere.example')).err).toContain('not encrypted')
    expect((await run('ls --url http://localhost:1')).err).not.toContain('not encrypted')
  })

  it('no text of ours ever shows it', async () => {
    const { fetch } = heard()
    const { run } = cliIn({ fetch, env: { RUNFOLD_TOKEN: 'rf_own', RUNFOLD_DEBUG: '1' } })
    const { out, err } = await run('ls')
    expect(out + err).not.toContain('rf_own')
  })
})

describe('how it ends', () => {
  it('says in two lines that there is no server', async () => {
    const { run } = cliIn()
    const { code, err } = await run('ls')
    expect(code).toBe(5)
    expect(err).toMatch(
      /^runfold: no server at http:\/\/127\.0\.0\.1:8080\n {2}start one with `npm start`.*\n$/,
    )
  })

  it('tells a program what went wrong, with the facts', async () => {
    const { run } = await withServer()
    await run('lease acquire r --machine m --world w')
    const { code, out, err } = await run('lease acquire r --json')
    expect([code, out]).toEqual([6, ''])
    expect(JSON.parse(err)).toMatchObject({
      code: 'lease_held',
      exit_code: 6,
      epoch: 1,
      lease: { machine_id: 'm' },
    })
    expect(JSON.parse((await run('fold nothing.lvr --json')).err)).toMatchObject({
      code: 'usage',
      exit_code: 2,
    })
  })

  it('is quiet when nobody reads the output any more, and says 130 when interrupted', async () => {
    const { run, write } = cliIn()
    write('run.lvr', demoBytes(60))
    const pipe = await run('records run.lvr', { signal: AbortSignal.abort(new BrokenPipe()) })
    expect(pipe).toMatchObject({ code: 0, err: '' })
    const stopped = await run('records run.lvr', { signal: AbortSignal.abort(new Error('SIGINT')) })
    expect(stopped).toMatchObject({ code: 130, err: '' })
  })

  it('names the request when the server failed inside', async () => {
    const { run, server } = await withServer()
    server.mishaps.push(...Array.from({ length: 9 }, () => refused(500, 'internal', { request_id: 'req-7' })))
    const { code, err } = await run('show r')
    expect(code).toBe(1)
    expect(err).toContain('request req-7')
  })
})
