import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { afterEach, expect, it, vi } from 'vitest'
import { testApi } from './api-kit.ts'

afterEach(() => void vi.useRealTimers())

it('who stops in the middle of a body is answered, and the connection closed', async () => {
  const api = await testApi()
  const server = createServer(getRequestListener((request) => api.app.fetch(request)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { token } = await api.token(['append'])
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let answer = ''
  let isClosed = false
  socket.on('data', (piece) => {
    answer += piece
  })
  socket.on('close', () => {
    isClosed = true
  })
  socket.write(
    `POST /v1/runs/r/frames?offset=0&epoch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      'Content-Type: application/octet-stream\r\nContent-Length: 1000\r\n\r\nLVR1',
  )
  for (let turn = 0; vi.getTimerCount() === 0 && turn < 1e5; turn++) await setImmediate()
  expect(answer).toBe('')
  for (let turn = 0; !isClosed && turn < 1e4; turn++) {
    await vi.advanceTimersByTimeAsync(100)
    await setImmediate()
  }
  expect(answer).toMatch(/^HTTP\/1.1 503 .*nothing of the body came for 30 s/s)
  expect(isClosed).toBe(true)
  server.close()
})
