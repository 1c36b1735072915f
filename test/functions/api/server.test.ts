import { readFile, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { join as bytesOf, checkpoint, header, owner, PREAMBLE } from './api-kit.ts'
import { ask, type ServerProcess, startProcess, temporaryFolder } from './server-process.ts'

let folder: string
let remove: () => Promise<void>
const running: ServerProcess[] = []

beforeEach(async () => {
  ;({ folder, remove } = await temporaryFolder())
})
afterEach(async () => {
  for (const server of running.splice(0)) {
    server.child.kill('SIGKILL')
    await server.ended
  }
  await remove()
})

async function start(variables: Record<string, string> = {}, args: string[] = [], program?: string) {
  const server = await startProcess(folder, variables, args, program)
  running.push(server)
  return server
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const TOKEN = 'a-token-of-this-test'

/** A client of a running server, of every scope. */
function clientOf({ url }: ServerProcess, token = TOKEN) {
  return {
    get: (path: string, headers = {}) => ask(url, 'GET', path, { headers: { ...bearer(token), ...headers } }),
    post: (path: string, body: object) =>
      ask(url, 'POST', path, {
        headers: { ...bearer(token), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    append: (offset: number, body: Uint8Array) =>
      ask(url, 'POST', `/v1/runs/a/frames?offset=${offset}&epoch=1`, {
        headers: { ...bearer(token), 'content-type': 'application/octet-stream' },
        body,
      }),
  }
}

describe('the server process', { timeout: 30_000 }, () => {
  it('makes its first token once, for its owner alone, and tells where it is', async () => {
    const server = await start()
    const file = join(folder, 'admin-token')
    expect(server.message).toContain(file)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const token = (await readFile(file, 'utf8')).trim()
    expect(server.message).not.toContain(token)
    expect((await clientOf(server, token).get('/v1/tokens')).status).toBe(200)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    const again = await start()
    expect((await clientOf(again, token).get('/v1/tokens')).status).toBe(200)
  })

  it('has every acknowledged byte after it was killed', async () => {
    const server = await start({ RUNFOLD_ADMIN_TOKEN: TOKEN })
    const client = clientOf(server)
    await client.post('/v1/runs/a/lease', owner)
    const parts = [bytesOf(PREAMBLE, header('a')), checkpoint(2), checkpoint(3)]
    let tail = 0
    for (const part of parts) {
      expect((await client.append(tail, part)).status).toBe(200)
      tail += part.length
    }
    server.child.kill('SIGKILL')
    await server.ended
    const again = clientOf(await start({ RUNFOLD_ADMIN_TOKEN: TOKEN }))
    expect(new Uint8Array((await again.get('/v1/runs/a/archive')).body)).toEqual(bytesOf(...parts))
    expect(JSON.parse((await again.append(0, parts[0] as Uint8Array)).body.toString())).toMatchObject({
      replayed: true,
    })
  })

  it('answers who waits when it is told to end, and leaves no lock behind', async () => {
    const server = await start({ RUNFOLD_ADMIN_TOKEN: TOKEN })
    await clientOf(server).post('/v1/runs/a/lease', owner)
    const waiting = clientOf(server).get('/v1/runs/a/records?wait_s=20')
    await clientOf(server).get('/v1/runs')
    server.child.kill('SIGTERM')
    expect((await waiting).status).toBe(200)
    expect(await server.ended).toBe(0)
    await start({ RUNFOLD_ADMIN_TOKEN: TOKEN })
  })

  it('takes no request that names another host', async () => {
    const server = await start({ RUNFOLD_ADMIN_TOKEN: TOKEN })
    const { port } = server.url
    expect((await clientOf(server).get('/v1/runs', { host: `localhost:${port}` })).status).toBe(200)
    const refused = await clientOf(server).get('/v1/runs', { host: `evil.example:${port}` })
    expect([refused.status, JSON.parse(refused.body.toString()).code]).toEqual([403, 'forbidden'])
  })

  it('judges paths as they came, and malformed targets are problems too', async () => {
    const client = clientOf(await start({ RUNFOLD_ADMIN_TOKEN: TOKEN }))
    expect((await client.get('/v1/runs/a/../../tokens')).status).toBe(404)
    for (const path of ['/v1/runs/%2e%2e/archive', '/v1/runs/a%2fb', '/v1/runs/../tokens', '/v1\\runs']) {
      const answer = await client.get(path)
      expect([path, answer.status, answer.headers['content-type']]).toEqual([
        path,
        400,
        'application/problem+json',
      ])
    }
  })

  it('gives its metrics to this machine without a token', async () => {
    const server = await start({ RUNFOLD_ADMIN_TOKEN: TOKEN })
    await clientOf(server).get('/v1/nothing')
    const page = (await ask(server.url, 'GET', '/metrics')).body.toString()
    expect(page).toContain('runfold_problems_total{code="not_found"} 1')
    expect(page).toContain('process_resident_memory_bytes')
    const headers = { 'X-Forwarded-For': '203.0.113.7' }
    expect((await ask(server.url, 'GET', '/metrics', { headers })).status).toBe(404)
  })

  it('stores nothing of a body that ends early', async () => {
    const server = await start({ RUNFOLD_ADMIN_TOKEN: TOKEN })
    const client = clientOf(server)
    await client.post('/v1/runs/a/lease', owner)
    const whole = bytesOf(PREAMBLE, header('a'), checkpoint(1))
    const cut = whole.length - checkpoint(1).length
    await new Promise<void>((resolve) => {
      const socket = connect(Number(server.url.port), server.url.hostname, () => {
        const head = [
          'POST /v1/runs/a/frames?offset=0&epoch=1 HTTP/1.1',
          `Host: ${server.url.host}`,
          `Authorization: Bearer ${TOKEN}`,
        ]
        head.push('Content-Type: application/octet-stream', `Content-Length: ${whole.length}`, '', '')
        socket.write(head.join('\r\n'))
        socket.end(whole.subarray(0, cut))
      })
      socket
        .on('close', () => resolve())
        .on('error', () => {})
        .resume()
    })
    expect(JSON.parse((await client.get('/v1/runs/a')).body.toString()).tail).toBe(0)
    expect((await client.append(0, whole)).status).toBe(200)
  })

  it('logs a JSON line a request where it is asked to, without the token', async () => {
    const server = await start({ RUNFOLD_ADMIN_TOKEN: TOKEN, RUNFOLD_LOG: 'json' })
    const line = new Promise<string>((resolve) =>
      server.child.stderr?.once('data', (chunk) => resolve(String(chunk))),
    )
    await clientOf(server).get('/v1/runs/none/fold')
    const logged = JSON.parse(await line)
    expect(logged).toMatchObject({
      route: '/v1/runs/{run_id}/fold',
      run_id: 'none',
      status: 404,
      code: 'not_found',
    })
    expect(JSON.stringify(logged)).not.toContain(TOKEN)
  })
})

it('a server whose storage cannot be trusted any more says so and ends', { timeout: 30_000 }, async () => {
  const server = await start({}, [], join(import.meta.dirname, 'broken-server.ts'))
  const said = new Promise((resolve) => server.child.stderr?.once('data', (chunk) => resolve(String(chunk))))
  server.child.kill('SIGUSR2')
  expect(await said).toContain('an fsync failed')
  expect(await server.ended).toBe(1)
})

describe('a server that cannot start says why in one line', { timeout: 30_000 }, () => {
  const refusal = async (variables: Record<string, string>, args: string[] = []) => {
    const error = await start(variables, args).catch((error: Error) => error)
    expect(error).toBeInstanceOf(Error)
    const { message } = error as Error
    expect(message.trim().split('\n')).toHaveLength(1)
    return message
  }

  it('the port or the folder is in use', async () => {
    const server = await start()
    const { folder: other, remove: removeOther } = await temporaryFolder()
    expect(await refusal({ PORT: server.url.port, RUNFOLD_DATA: other })).toContain(
      `port ${server.url.port} is in use`,
    )
    expect(await refusal({})).toContain('another runfold server')
    await removeOther()
  })

  it('a setting is odd', async () => {
    expect(await refusal({ PORT: 'http' })).toContain('PORT is "http"')
    expect(await refusal({ RUNFOLD_HOST: '0.0.0.0' })).toContain('--allow-remote')
    expect(await refusal({}, ['--surprise'])).toContain('--surprise is not known')
    expect(await refusal({ RUNFOLD_ADMIN_TOKEN: 'two words' })).toContain('RUNFOLD_ADMIN_TOKEN')
  })

  it('the data folder is no folder', async () => {
    expect(await refusal({ RUNFOLD_DATA: join(import.meta.dirname, 'server.test.ts') })).toContain(
      'cannot be written',
    )
  })
})
