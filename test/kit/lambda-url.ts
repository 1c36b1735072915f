import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { LambdaFunctionURLEvent } from 'aws-lambda'
import type { LambdaFunction } from './lambda-function.ts'

// The URL of a function that streams (docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html): a request becomes one
// event, the answer goes out as it comes.

/** Lambda quotas: of an event with all that is in it, and of a streamed answer. */
export const MAX_EVENT_BYTES = 6 * 1024 * 1024
const MAX_ANSWER_BYTES = 200 * 1024 * 1024

export function functionUrl(fn: Pick<LambdaFunction, 'invoke'>): Server {
  const server = createServer((asked, answer) => {
    void serve(fn, asked, answer).catch(() => {
      if (answer.headersSent) answer.destroy()
      else refuse(answer, 502, 'Internal Server Error')
    })
  })
  server.requestTimeout = 60_000
  server.keepAliveTimeout = 65_000 // longer than the pauses of the usual pools
  return server
}

async function serve(fn: Pick<LambdaFunction, 'invoke'>, asked: IncomingMessage, answer: ServerResponse) {
  const body = await bodyOf(asked)
  const event = body && eventOf(asked, body)
  if (!event || Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) {
    return refuse(answer, 413, 'Request Too Long')
  }
  const streamed = await fn.invoke(event)
  // Whoever left takes nothing any more, also while the function was still thinking.
  if (answer.destroyed) return streamed.destroy()
  answer.once('close', () => streamed.destroy())
  await pass(streamed, answer)
}

/** Undefined over the limit. */
async function bodyOf(asked: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of asked as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_EVENT_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const TEXT = /^(text\/|application\/(json|javascript|xml|graphql|x-www-form-urlencoded|[\w.-]+\+(json|xml)))/i

/** Payload format 2.0. A body is text where its type says so, else base64. */
function eventOf(asked: IncomingMessage, body: Buffer): LambdaFunctionURLEvent {
  const { method = 'GET', url = '/', headers, rawHeaders, socket } = asked
  const cut = url.indexOf('?')
  const [rawPath, rawQueryString] = cut < 0 ? [url, ''] : [url.slice(0, cut), url.slice(cut + 1)]
  const isText = TEXT.test(headers['content-type'] ?? '') && headers['content-encoding'] === undefined
  const all: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]?.toLowerCase() ?? '', rawHeaders[at + 1] ?? '']
    all[name] = name in all ? `${all[name]},${value}` : value
  }
  const { cookie, ...others } = all
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    headers: { ...others, 'x-forwarded-proto': 'https', 'x-amzn-trace-id': 'Root=1-0' },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: 'local.lambda-url.us-east-1.on.aws',
      domainPrefix: 'local',
      http: {
        method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: socket.remoteAddress ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: '-',
      routeKey: '$default',
      stage: '$default',
      time: new Date().toUTCString(),
      timeEpoch: Date.now(),
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  }
}

interface Head {
  readonly statusCode?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly cookies?: readonly string[]
}

const DELIMITER = Buffer.alloc(8)

/** Status and headers stand before the body, as JSON that ends with eight zero bytes. */
async function pass(streamed: IncomingMessage, answer: ServerResponse): Promise<void> {
  let before: Buffer | undefined = Buffer.alloc(0)
  let sent = 0
  for await (const chunk of streamed as AsyncIterable<Buffer>) {
    let piece = chunk
    if (before) {
      before = Buffer.concat([before, chunk])
      const end = before.indexOf(DELIMITER)
      if (end < 0) continue
      begin(answer, JSON.parse(before.toString('utf8', 0, end)))
      piece = before.subarray(end + DELIMITER.length)
      before = undefined
    }
    sent += piece.length
    if (sent > MAX_ANSWER_BYTES) throw new Error('the answer is over the limit')
    if (piece.length > 0 && !answer.write(piece)) await drained(answer)
    if (answer.destroyed) return
  }
  if (before || streamed.trailers['lambda-runtime-function-error-type'])
    throw new Error('the function failed')
  answer.end()
}

/** Or closed. */
function drained(answer: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (answer.destroyed) return resolve()
    const go = () => {
      answer.off('drain', go).off('close', go)
      resolve()
    }
    answer.once('drain', go).once('close', go)
  })
}

function begin(answer: ServerResponse, { statusCode = 200, headers = {}, cookies = [] }: Head): void {
  answer.writeHead(statusCode, { ...headers, ...(cookies.length > 0 && { 'set-cookie': [...cookies] }) })
  answer.flushHeaders()
}

function refuse(answer: ServerResponse, status: number, Message: string): void {
  answer.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  answer.end(JSON.stringify({ Message }))
}
