import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { functionUrl } from '../../kit/lambda-url.ts'

// The stand-in of a function URL, where it could hide a fault of the function or make one of its own.

it('a function whose caller left before it answered is told so, and not left waiting', async () => {
  const answered = new PassThrough()
  const invoked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<never>()
  const invoke = () => {
    invoked.resolve()
    return answer.promise
  }
  const server = functionUrl({ invoke }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const asked = request({ port: (server.address() as AddressInfo).port })
  asked.once('error', () => {}).end()
  const left = once(server, 'connection').then(([socket]) => once(socket, 'close'))
  await invoked.promise
  asked.destroy()
  await left
  answer.resolve(answered as never)
  await once(answered, 'close')
  expect(answered.destroyed).toBe(true)
  server.close()
})
