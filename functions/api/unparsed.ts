import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerError } from './answer-error.ts'
import { badRequest } from './issues.ts'

// Node answers what its parser refuses by itself, in a status line without a word. API.md: every error is a problem.

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the head of the request is too long',
  HPE_INVALID_METHOD: 'the method is not known',
}
/** No answer to anything, but the way to let go of a connection on which nobody asks (RFC 9110, 15.5.9). */
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/**
 * Has a server answer bytes that are no request with `bad_request`, and then close the connection. Where an answer has begun
 * on it, or is due to a request that has come whole, it is only closed: one more would pass for a part of it, or for it itself.
 */
export function answerUnparsed(server: Server): void {
  const due = new WeakMap<Duplex, Set<ServerResponse>>()
  server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    const answers = due.get(socket) ?? new Set()
    due.set(socket, answers.add(answer))
    answer.once('close', () => answers.delete(answer))
  })
  // Expectations of other kinds than 100-continue may be disregarded (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, answer) => server.emit('request', request, answer))
  server.on('clientError', async (error: NodeJS.ErrnoException, socket) => {
    const [first, ...more] = due.get(socket) ?? []
    const isFree = !first || (more.length === 0 && !first.headersSent && !first.req.complete)
    if (isFree && socket.writable && error.code !== 'ECONNRESET')
      socket.end(await refusal(error), () => socket.destroy())
    else socket.destroy()
  })
}

async function refusal({ code = '' }: NodeJS.ErrnoException): Promise<string> {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return TIMED_OUT
  const message = DETAILS[code] ?? 'what came is no HTTP request'
  const { headers, body } = await written(badRequest([{ path: '', message }]))
  return `HTTP/1.1 400 Bad Request\r\n${headers.join('\r\n')}\r\n\r\n${body}`
}

async function written(error: ReturnType<typeof badRequest>) {
  const answer = answerError(error, crypto.randomUUID())
  const body = await answer.text()
  const length = ['content-length', String(Buffer.byteLength(body))]
  const all = [...answer.headers, length, ['connection', 'close'], ['date', new Date().toUTCString()]]
  return { headers: all.map(([name, value]) => `${name}: ${value}`), body }
}
