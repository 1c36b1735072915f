import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { answerUnparsed } from '../../../functions/api/unparsed.ts'

/** A server that answers as it is told, and what it says to bytes until it closes the connection. */
async function serving(listener: RequestListener = (_request, answer) => answer.end('fine')) {
  const server = createServer({ maxHeaderSize: 2048, requireHostHeader: false }, listener)
  answerUnparsed(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return async (...texts: string[]): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    let said = ''
    socket.on('data', (chunk) => {
      said += chunk
      const next = texts.shift()
      if (next !== undefined) socket.write(next)
    })
    socket.on('error', () => {})
    socket.write(texts.shift() ?? '')
    await once(socket, 'close')
    return said
  }
}

const HOST = 'Host: localhost\r\n'

it.each([
  ['an unknown method', `FOO / HTTP/1.1\r\n${HOST}\r\n`, 'the method is not known'],
  [
    'a head that is too long',
    `GET / HTTP/1.1\r\n${HOST}X: ${'x'.repeat(3000)}\r\n\r\n`,
    'the head of the request is too long',
  ],
  ['another protocol', `GET / SIP/2.0\r\n${HOST}\r\n`, 'what came is no HTTP request'],
  ['a length that is none', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1e9\r\n\r\n`, 'what came is no HTTP'],
])('%s is a problem', async (_, text, detail) => {
  const say = await serving()
  const [head = '', body = ''] = (await say(text)).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(head).toContain('content-type: application/problem+json')
  expect(head).toContain(`content-length: ${body.length}`)
  const problem = JSON.parse(body)
  expect(problem).toMatchObject({ status: 400, code: 'bad_request', request_id: expect.any(String) })
  expect(problem.detail).toContain(detail)
})

it('comes behind the answer before it', async () => {
  const say = await serving()
  const said = await say(`GET / HTTP/1.1\r\n${HOST}\r\n`, 'FOO')
  expect(said).toMatch(/^HTTP\/1\.1 200 OK.*fine.*HTTP\/1\.1 400 .*bad_request/s)
})

it('never comes in the midst of an answer, which is broken off', async () => {
  const say = await serving((_request, answer) => void answer.write('begun'))
  const said = await say(`GET / HTTP/1.1\r\n${HOST}\r\n`, 'FOO')
  expect(said).toMatch(/^HTTP\/1\.1 200 OK.*begun/s)
  expect(said).not.toContain('400')
})

it('never comes in place of the answer to a request that has come whole', async () => {
  const say = await serving(() => {})
  const sent = `POST / HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nok`
  expect(await say(`${sent}FOO`)).toBe('')
})

it('is the answer to a request whose body breaks', async () => {
  const say = await serving(() => {})
  const said = await say(`POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nno length\r\n`)
  expect(said).toMatch(/^HTTP\/1\.1 400 .*bad_request/s)
})

it('never comes where several answers are due', async () => {
  const say = await serving(() => {})
  expect(await say(`GET / HTTP/1.1\r\n${HOST}\r\nGET / HTTP/1.1\r\n${HOST}\r\nFOO`)).toBe('')
})

it('expectations that nobody knows are passed over', async () => {
  const say = await serving()
  expect(await say(`GET / HTTP/1.1\r\n${HOST}Expect: wonders\r\nConnection: close\r\n\r\n`)).toContain('fine')
})
