import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createArchive } from '#store'
import { memoryPorts } from '#store/memory'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'
import { nodePlatform } from '../../../functions/api/platform.ts'
import { steppedClock } from '../../kit/stepped-clock.ts'
import { makeRun, testApi } from './api-kit.ts'
import { startProcess, temporaryFolder } from './server-process.ts'

it('a reader that leaves its socket is followed no longer', async () => {
  const clock = steppedClock()
  const archive = createArchive(memoryPorts(clock), { clock, limits: LOCAL_LIMITS })
  const { app, root, token } = await testApi({ archive, clock, features: ['events'] })
  const { path, tail } = await makeRun(root, 'run')
  const errorHandler = () => new Response(null, { status: 500 })
  const server = createServer(nodePlatform.listener(async (request) => app.fetch(request), { errorHandler }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())

  const leaving = new AbortController()
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}${path}/events`, {
    headers: { authorization: `Bearer ${(await token(['read'])).token}` },
    signal: leaving.signal,
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const { value } = await reader.read()
  expect(new TextDecoder().decode(value)).toContain(`id: ${tail}`)
  while (clock.sleeping === 0) await pause(1)
  leaving.abort()
  while (clock.sleeping > 0) {
    await clock.advance(500)
    await pause(1)
  }
  await clock.advance(60_000)
  expect(clock.sleeping).toBe(0)
})

it('a server that is stopped sends its followers elsewhere and ends', async () => {
  const { folder, remove } = await temporaryFolder()
  onTestFinished(remove)
  const server = await startProcess(folder, { RUNFOLD_ADMIN_TOKEN: 'secret' })
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const headers = { authorization: 'Bearer secret' }
  await fetch(new URL('/v1/runs/run/lease', server.url), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ machine_id: 'm', world_id: 'w' }),
  })
  const response = await fetch(new URL('/v1/runs/run/events', server.url), { headers })
  server.child.kill('SIGTERM')
  expect(await response.text()).toMatch(/event: reconnect\ndata: \{\}\n\n$/)
  expect(await server.ended).toBe(0)
}, 30_000)
