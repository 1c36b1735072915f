import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FEATURES_OFFERED } from '../../../functions/api/features.ts'
import { EXIT } from '../../../functions/cli/exit-codes.ts'
import { sparkline } from '../../../functions/cli/sparkline.ts'
import { startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { frame } from '../api/api-kit.ts'
import { startProcess } from '../api/server-process.ts'
import { cliIn, demoBytes } from './kit.ts'

const MAIN = new URL('../../../functions/cli/main.ts', import.meta.url).pathname
const said = (text: string) =>
  frame(JSON.stringify({ Message: { message: { role: 'user', content: text }, at: 1 } }))

const withServer = async () => {
  const server = await startServer(undefined, FEATURES_OFFERED)
  const cli = cliIn({ fetch: server.fetch, env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token } })
  cli.write('run.lvr', demoBytes())
  expect((await cli.run('push run.lvr --run demo')).code).toBe(EXIT.ok)
  return { server, ...cli }
}

describe('tail', () => {
  it('prints the newest records, a line or an item each', async () => {
    const { run } = await withServer()
    const listed = (await run('records demo --json')).lines
    expect((await run('tail demo --json')).lines).toEqual(listed.slice(-10))
    expect((await run('tail demo -n 100000 --json')).lines).toEqual(listed)
    const { out } = await run('tail demo -n 2')
    expect(out.split('\n')).toHaveLength(3)
    expect(out).toContain(String(listed.length - 1))
    expect((await run('tail nothing')).code).toBe(EXIT.notFound)
  })

  it('-f as a process prints what comes, until the run is deleted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runfold-live-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const server = await startProcess(folder, { RUNFOLD_ADMIN_TOKEN: 'secret' })
    onTestFinished(() => void server.child.kill('SIGKILL'))
    const call = async (
      method: string,
      path: string,
      body?: string | Buffer<ArrayBuffer>,
      type = 'application/json',
    ) => {
      const headers = { authorization: 'Bearer secret', 'content-type': type }
      return fetch(new URL(path, server.url), { method, headers, ...(body !== undefined && { body }) })
    }
    const lease = await call(
      'POST',
      '/v1/runs/live/lease',
      JSON.stringify({ machine_id: 'm', world_id: 'w' }),
    )
    const { epoch } = (await lease.json()) as { epoch: number }
    let tail = 0
    const append = async (...chunks: readonly Uint8Array[]) => {
      const bytes = Buffer.concat(chunks)
      const path = `/v1/runs/live/frames?offset=${tail}&epoch=${epoch}`
      expect((await call('POST', path, bytes, 'application/octet-stream')).status).toBe(200)
      tail += bytes.length
    }
    await append(Buffer.from('LVR1\0\x01', 'latin1'), said('before'), said('last'))

    const { PATH = '' } = process.env
    const child = spawn(process.execPath, [MAIN, 'tail', '-f', '-n', '1', 'live', '--json'], {
      env: { PATH, HOME: folder, RUNFOLD_URL: server.url.origin, RUNFOLD_TOKEN: 'secret' },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let out = ''
    let wake = () => {}
    child.stdout.on('data', (chunk) => {
      out += chunk
      wake()
    })
    const printed = async (text: string) => {
      while (!out.includes(text)) await new Promise<void>((resolve) => (wake = resolve))
    }
    await printed('last')
    await append(said('one'), said('two'))
    await printed('two')
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    await call('DELETE', '/v1/runs/live?force=true')
    expect(await ended).toBe(EXIT.notFound)
    expect(
      out
        .trim()
        .split('\n')
        .slice(0, 3)
        .map((line) => JSON.parse(line).seq),
    ).toEqual([1, 2, 3])
  }, 30_000)
})

describe('fork', () => {
  it('makes a run of the first records, the same one again', async () => {
    const { run } = await withServer()
    const made = await run('fork demo --seq 20 --to branch')
    expect([made.code, made.err]).toEqual([EXIT.ok, ''])
    expect(made.out).toContain('branch')
    const again = await run('fork demo --seq 20 --to branch --json')
    expect(again.lines[0]).toMatchObject({ run_id: 'branch', frames: 20, epoch: 1 })
    const records = async (id: string) => (await run(`records ${id} --to 20 --json`)).out
    expect(await records('branch')).toBe(await records('demo'))
    expect((await run('fork demo --seq 19 --to branch')).code).toBe(EXIT.conflict)
    expect((await run('fork demo --seq 100000 --to other')).code).toBe(EXIT.notFound)
    expect((await run('fork demo --seq 1 --to ../x')).code).toBe(EXIT.usage)
    expect((await run('fork demo --to other')).code).toBe(EXIT.usage)
  })
})

describe('usage', () => {
  it('is the same of a file and of the run made of it', async () => {
    const { run } = await withServer()
    const [here] = (await run('usage run.lvr --json')).lines
    const [there] = (await run('usage demo --json')).lines
    expect({ ...here, run_id: null }).toEqual({ ...there, run_id: null })
    expect(here).toMatchObject({ source: 'InferenceUsage', run_id: 'demo-1' })
  })

  it('is a table for people, with a line over time', async () => {
    const { run } = await withServer()
    const { out, code } = await run('usage demo')
    expect(code).toBe(EXIT.ok)
    for (const word of ['InferenceUsage records', 'MODEL', 'STAGE', 'KIND', 'COMPLETION', '█'])
      expect(out).toContain(word)
  })

  it('of a run without a record is nothing', async () => {
    const { run, write } = await withServer()
    write('empty.lvr', Buffer.from('LVR1\0\x01', 'latin1'))
    const { out, code } = await run('usage empty.lvr')
    expect(code).toBe(EXIT.ok)
    expect(out).toContain('no record tells of any')
  })
})

describe('a sparkline', () => {
  it.each([
    [[], ''],
    [[[5, 1]], '█'],
    [[[0, 0]], '▁'],
    [
      [
        [0, 1],
        [1, 8],
        [3, 4],
      ],
      '▁█ ▄',
    ],
    [
      [
        [0, -5],
        [3, 8],
      ],
      '▁  █',
    ],
  ] as [[number, number][], string][])('of %j is "%s"', (bars, line) => {
    expect(
      sparkline(
        bars.map(([at, value]) => ({ at, value })),
        4,
      ),
    ).toBe(line)
  })

  it('is never wider than asked', () => {
    const bars = Array.from({ length: 1000 }, (_, at) => ({ at: at * 7, value: at }))
    expect(sparkline(bars, 60)).toHaveLength(60)
  })
})
