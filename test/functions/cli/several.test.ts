import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { cliIn, demoBytes } from './kit.ts'

const withServer = async () => {
  const server = await startServer()
  const cli = cliIn({ fetch: server.fetch, env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token } })
  return { server, ...cli }
}

it('one of several that is not there is named, and the others are removed', async () => {
  const { run, write } = await withServer()
  write('a.lvr', demoBytes(20))
  await run('push a.lvr --run one')
  await run('push a.lvr --run two')
  expect(await run('rm one nope two')).toMatchObject({
    code: 3,
    out: 'removed one\nremoved two\n',
    err: 'nope: not_found: there is no such run\n',
  })
  expect((await run('ls')).out).toBe('no runs\n')
  const { token_id } = (await run('token make spare --scopes read --json')).lines[0] ?? {}
  expect(await run(`token rm tok_nope ${token_id}`)).toMatchObject({
    code: 3,
    out: `revoked ${token_id}\n`,
    err: 'tok_nope: not_found: there is no such token\n',
  })
  expect((await run('rm nope nor-this --json')).lines).toMatchObject([
    { run_id: 'nope', error: { code: 'not_found' } },
    { run_id: 'nor-this', error: { code: 'not_found' } },
  ])
})

it('a file of a folder that differs is not passed over for a torn one behind it', async () => {
  const { run, write, folder } = await withServer()
  for (const name of ['a', 'b', 'c']) mkdirSync(join(folder, 'runs', name), { recursive: true })
  write('first.lvr', demoBytes(20, 1))
  await run('push first.lvr --run demo-2')
  write('runs/a/run.lvr', demoBytes(20, 2))
  write('runs/b/run.lvr', demoBytes(20, 3).subarray(0, -1))
  write('runs/c/run.lvr', Buffer.from('PK'))
  const { code, err, out } = await run('push runs')
  expect(code).toBe(8)
  expect(err).toContain(`${join(folder, 'runs/a/run.lvr')}: offset_conflict: `)
  expect(err).toMatch(/^.*runs\/c\/run.lvr: bad_frames: the file does not begin/m)
  expect(out).toMatch(/1 of 3 runs on the server\n$/)
})

it('a part of the list is not given out as all of it', async () => {
  const { run, write } = await withServer()
  write('a.lvr', demoBytes(20))
  for (const id of ['one', 'two', 'three']) await run(`push a.lvr --run ${id}`)
  expect((await run('ls -n 2')).err).toBe('there may be more than these 2; --all shows them\n')
  expect(JSON.parse((await run('ls -n 2 --json')).err)).toMatchObject({ note: 'more' })
  for (const line of ['ls', 'ls -n 3', 'ls --all']) expect((await run(line)).err).toBe('')
})

it('a file that is no archive is named by its refusal, for a person and a program', async () => {
  const { run, write } = await withServer()
  const path = write('x.lvr', Buffer.from('PK'))
  const preamble = write('none.lvr', Buffer.from('LVR1\0\x01', 'latin1'))
  for (const verb of ['push', 'fold', 'replay', 'records', 'verify', 'inspect', 'usage', 'diff']) {
    const line = `${verb} x.lvr${verb === 'diff' ? ' 0 1' : ''}`
    const { code, err } = await run(line)
    expect([code, err], verb).toEqual([
      11,
      `runfold: ${path}: bad_frames: the file does not begin with LVR1\n`,
    ])
    expect(JSON.parse((await run(`${line} --json`)).err)).toMatchObject({ file: path, code: 'bad_frames' })
  }
  expect((await run('fold none.lvr')).err).toContain(`${preamble}: bad_frames: `)
})

it('the moment of a fold may be said as other commands print it', async () => {
  const { run, write } = cliIn()
  write('run.lvr', demoBytes(60))
  const at = (await run('replay run.lvr --json')).lines[5]?.at as number
  const said = new Date(at * 1000).toISOString().replace('.000', '')
  expect((await run('replay run.lvr')).out).toContain(said)
  const wanted = await run(`fold run.lvr --json --at ${at}`)
  expect(await run(`fold run.lvr --json --at ${said}`)).toMatchObject({ code: 0, out: wanted.out })
  for (const wrong of ['yesterday', '2026-11-30', '1.5'])
    expect(await run(`fold run.lvr --at ${wrong}`)).toMatchObject({ code: 2, out: '' })
})
