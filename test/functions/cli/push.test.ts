import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { encodeFrame } from '#codec'
import {
  lostRequest,
  type Mishap,
  refused,
  type Server,
  startServer,
  URL_OF_SERVER,
} from '../../shared/client/kit.ts'
import { cliOn, demoBytes } from './kit.ts'

const MORE = encodeFrame(Buffer.from('{"StatusChanged":{"status":"running","at":9}}'))
const TORN = Buffer.from([0, 0, 0, 0, 0, 0, 1, 0, 0x7b])

const stored = async ({ client }: Server, run: string) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await client.archive(run)).chunks) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('push', () => {
  it('sends an archive under the run id of its Header and gives the lease back', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    const bytes = demoBytes(60)
    write('anything.lvr', bytes)
    const { code, lines } = await run('push anything.lvr --json')
    expect(code).toBe(0)
    expect(lines[0]).toMatchObject({
      run_id: 'demo-1',
      outcome: 'pushed',
      from: 0,
      tail: bytes.length,
      torn: null,
    })
    expect(await stored(server, 'demo-1')).toEqual(bytes)
    expect((await server.client.leaseState('demo-1')).lease).toBeNull()
  })

  it('sends only what is new, and nothing when nothing is', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    const bytes = demoBytes(60)
    write('run.lvr', bytes)
    await run('push run.lvr')
    write('run.lvr', Buffer.concat([bytes, MORE]))
    expect((await run('push run.lvr --json')).lines[0]).toMatchObject({
      outcome: 'pushed',
      from: bytes.length,
    })
    server.requests.length = 0
    expect((await run('push run.lvr --json')).lines[0]).toMatchObject({ outcome: 'unchanged' })
    expect(server.requests.filter((request) => !/^(GET|HEAD) /.test(request))).toEqual([])
    expect(await stored(server, 'demo-1')).toEqual(Buffer.concat([bytes, MORE]))
  })

  it('says that the server is ahead of a file that is a beginning of it', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    const bytes = demoBytes(60)
    write('run.lvr', Buffer.concat([bytes, MORE]))
    await run('push run.lvr')
    for (const older of [bytes, Buffer.concat([bytes, MORE.subarray(0, 20)])]) {
      write('run.lvr', older)
      const { code, lines } = await run('push run.lvr --json')
      expect(code).toBe(0)
      expect(lines[0]).toMatchObject({ outcome: 'ahead', tail: bytes.length + MORE.length })
    }
  })

  it('sends nothing, and takes no lease, when the file is another one', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    const bytes = demoBytes(60)
    write('run.lvr', bytes)
    await run('push run.lvr')
    const epoch = (await server.client.tail('demo-1')).epoch
    for (const other of [demoBytes(90, 2), demoBytes(10, 2)]) {
      write('other.lvr', other)
      const { code, err } = await run('push other.lvr --run demo-1')
      expect(code).toBe(8)
      expect(err).toContain('differ')
    }
    expect(await stored(server, 'demo-1')).toEqual(bytes)
    expect((await server.client.tail('demo-1')).epoch).toBe(epoch)
  })

  it('sends up to the last whole frame, reports the torn bytes, and sends the rest when it is whole', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    const bytes = demoBytes(60)
    write('run.lvr', Buffer.concat([bytes, MORE.subarray(0, -3)]))
    const first = await run('push run.lvr --json')
    expect(first).toMatchObject({ code: 9 })
    expect(first.lines[0]).toMatchObject({
      tail: bytes.length,
      torn: { offset: bytes.length, length: MORE.length - 3 },
    })
    write('run.lvr', Buffer.concat([bytes, MORE]))
    expect((await run('push run.lvr')).code).toBe(0)
    expect(await stored(server, 'demo-1')).toEqual(Buffer.concat([bytes, MORE]))
  })

  it('does not send what only looks whole behind a tear', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    const bytes = demoBytes(20)
    write('run.lvr', Buffer.concat([bytes, TORN, ...Array.from({ length: 9 }, () => MORE)]))
    expect(await run('push run.lvr')).toMatchObject({ code: 9 })
    expect(await stored(server, 'demo-1')).toEqual(bytes)
    expect(await run('push run.lvr')).toMatchObject({ code: 9 })
    expect(await stored(server, 'demo-1')).toEqual(bytes)
  })

  it('refuses what is no archive before it says anything to the server', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    write('not.lvr', Buffer.from('{"json": true}'))
    expect(await run('push not.lvr')).toMatchObject({ code: 11 })
    expect(server.requests.filter((request) => !request.startsWith('GET /v1/capabilities'))).toEqual([])
  })

  it('tells a held lease from a lost one and from a server that is away', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    write('run.lvr', demoBytes(60))
    await server.client.acquire('demo-1', { machine_id: 'other', world_id: 'w' })
    const held = await run('push run.lvr')
    expect(held).toMatchObject({ code: 6 })
    expect(held.err).toMatch(
      /^runfold: lease_held: other\/w holds .*\n {2}wait until it is free, or use --force\n$/,
    )
    const fencing: Mishap = async (request, answer) =>
      request.url.includes('/frames')
        ? refused(412, 'fenced', { epoch: 7, lease: null })(request, answer)
        : answer()
    server.mishaps.push(...Array.from({ length: 5 }, () => fencing))
    expect(await run('push run.lvr --force')).toMatchObject({ code: 7 })
    server.mishaps.splice(0, 99, lostRequest)
    const away = await run('push run.lvr')
    expect(away).toMatchObject({ code: 5 })
    expect(away.err).toContain(`no server at ${URL_OF_SERVER}`)
  })

  it('keeps the worker of this machine, so a killed push can be repeated at once', async () => {
    const server = await startServer()
    const { run, write } = cliOn(server)
    write('run.lvr', demoBytes(60))
    await run('push run.lvr --keep-lease')
    write('run.lvr', Buffer.concat([demoBytes(60), MORE]))
    expect(await run('push run.lvr')).toMatchObject({ code: 0 })
    const { history } = await server.client.leaseState('demo-1')
    expect(history).toHaveLength(1)
    expect(history[0]?.machine_id).toMatch(/^[0-9a-f]{16}$/)
  })

  it('pushes every run of a folder, and one that fails does not hold up the others', async () => {
    const server = await startServer()
    const { run, folder } = cliOn(server)
    for (const [name, bytes] of [
      ['a-broken', Buffer.from('LVR9')],
      ['b', demoBytes(20, 2)],
      ['c', demoBytes(20, 3)],
      ['d-nameless', Buffer.from('LVR1\0\u0001')],
    ] as const) {
      mkdirSync(join(folder, 'runs', name), { recursive: true })
      writeFileSync(join(folder, 'runs', name, 'run.lvr'), bytes)
    }
    const { code, out, err } = await run('push runs')
    expect(code).toBe(11)
    expect(err).toContain('a-broken')
    expect(out).toContain('3 of 4')
    const { items } = await server.client.list({ order: 'asc' })
    expect(items.map((card) => card.run_id)).toEqual(['demo-2', 'demo-3', 'd-nameless'])
  })

  it('pushes the files of a folder as well as its run folders, each as the run of its Header', async () => {
    const server = await startServer()
    const { run, folder } = cliOn(server)
    for (const name of ['one', 'a run', 'empty']) mkdirSync(join(folder, 'runs', name), { recursive: true })
    for (const [path, bytes] of [
      ['one/run.lvr', demoBytes(20, 2)],
      ['one.lvr', demoBytes(20, 3)],
      ['a run/run.lvr', demoBytes(20, 4)],
      ['b run.lvr', demoBytes(20, 5)],
      ['nameless.lvr', Buffer.from('LVR1\0\u0001')],
      ['notes.txt', Buffer.from('x')],
    ] as const) {
      writeFileSync(join(folder, 'runs', path), bytes)
    }
    const { code, out } = await run('push runs')
    expect([code, out.split('\n').at(-2)]).toEqual([0, '5 of 5 runs on the server'])
    const { items } = await server.client.list()
    const ids = items.map((card) => card.run_id).sort()
    expect(ids).toEqual(['demo-2', 'demo-3', 'demo-4', 'demo-5', 'nameless'])
  })

  it('sends a frame over the limit in parts, where the server takes them', async () => {
    const server = await startServer(100_000, ['uploads'])
    const { run, write } = cliOn(server)
    const big = encodeFrame(Buffer.from(`"${'x'.repeat(300_000)}"`))
    const bytes = Buffer.concat([demoBytes(5), big, encodeFrame(Buffer.from('{}'))])
    write('big.lvr', bytes)
    const { code, lines } = await run('push big.lvr --json')
    expect([code, lines[0]?.tail]).toEqual([0, bytes.length])
    expect(server.requests.some((request) => request.includes('/complete'))).toBe(true)
    expect(lines[0]?.digest).toBe(createHash('sha256').update(bytes).digest('hex'))
  })

  it('names the frame that is over the limit and why it cannot be sent', async () => {
    const server = await startServer(20_000)
    const { run, write } = cliOn(server)
    const big = encodeFrame(Buffer.from(`"${'x'.repeat(30_000)}"`))
    write('big.lvr', Buffer.concat([demoBytes(5), big]))
    const { code, err } = await run('push big.lvr')
    expect(code).toBe(11)
    expect(err).toContain('frames up to')
  })
})
