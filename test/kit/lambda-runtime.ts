import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

// A function's process, as Lambda runs it: asks the runtime API for one event after the other and hands each to the
// handler (docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html). Small, and as strict as the runtime of Node 24:
// what a stream of its does not do, this one does not do either.

const [hostname = '', port = ''] = (process.env.AWS_LAMBDA_RUNTIME_API ?? '').split(':')
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming')
const ERROR_TYPE = 'Lambda-Runtime-Function-Error-Type'
const ERROR_BODY = 'Lambda-Runtime-Function-Error-Body'

// biome-ignore lint/suspicious/noExplicitAny: a handler takes whatever its function is called with
type Handler = ((...given: any[]) => Promise<unknown>) & { [STREAMING]?: 'response' }
type Prelude = { onFirstWrite?: () => void }

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: Handler) => Object.assign(handler, { [STREAMING]: 'response' }),
    HttpResponseStream: {
      /** The prelude goes before the first byte that is written, and nowhere if none is. */
      from: (stream: ClientRequest & Prelude & { write: ClientRequest['write'] }, prelude: object) => {
        stream.setHeader('Content-Type', 'application/vnd.awslambda.http-integration-response')
        stream.onFirstWrite = () => {
          rawWrite(stream, JSON.stringify(prelude))
          rawWrite(stream, Buffer.alloc(8))
        }
        return stream
      },
    },
  },
})

const raw = new WeakMap<object, ClientRequest['write']>()
const rawWrite = (stream: ClientRequest, chunk: string | Uint8Array) => raw.get(stream)?.(chunk)

const [file, name] = (process.env._HANDLER ?? '').split('.')
const loaded = await import(pathToFileURL(`${process.env.LAMBDA_TASK_ROOT}/${file}.mjs`).href)
const handler = loaded[name ?? ''] as Handler

for (;;) {
  const { headers, event } = await nextEvent()
  const id = String(headers['lambda-runtime-aws-request-id'])
  const context = contextOf(id, Number(headers['lambda-runtime-deadline-ms']))
  await (handler[STREAMING] ? streamed(id, event, context) : buffered(id, event, context))
}

async function nextEvent() {
  const answer = await exchange(api('GET', '/2018-06-01/runtime/invocation/next'))
  return { headers: answer.headers, event: JSON.parse(await text(answer)) as unknown }
}

async function streamed(id: string, event: unknown, context: object): Promise<void> {
  const posted = api('POST', `/2018-06-01/runtime/invocation/${id}/response`)
  posted.setHeader('Lambda-Runtime-Function-Response-Mode', 'streaming')
  posted.setHeader('Trailer', [ERROR_TYPE, ERROR_BODY])
  posted.setHeader('Content-Type', 'application/octet-stream')
  const stream = responseStream(posted)
  const taken = new Promise<unknown>((resolve) => {
    posted.once('response', (answer: IncomingMessage) => answer.resume().once('end', resolve))
    posted.once('error', resolve)
  })
  try {
    await handler(event, stream, context)
    if (!posted.destroyed && !posted.writableEnded) throw new Error('Response stream is not finished.')
  } catch (error) {
    posted.addTrailers({ [ERROR_TYPE]: 'Error', [ERROR_BODY]: Buffer.from(String(error)).toString('base64') })
    posted.end()
  }
  await taken
}

/** It is a request and looks like a stream; `end` takes no chunk, and only bytes and text are written as they are. */
function responseStream(posted: ClientRequest & Prelude): ClientRequest {
  const write = posted.write.bind(posted)
  const end = posted.end.bind(posted)
  raw.set(posted, write)
  return Object.assign(posted, {
    write: (chunk: string | Uint8Array, ...more: []) => {
      posted.onFirstWrite?.()
      delete posted.onFirstWrite
      const isPlain = typeof chunk === 'string' || Buffer.isBuffer(chunk) || chunk.constructor === Uint8Array
      return write(isPlain ? chunk : JSON.stringify(chunk), ...more)
    },
    end: (callback?: () => void) => end(typeof callback === 'function' ? callback : undefined),
  })
}

async function buffered(id: string, event: unknown, context: object): Promise<void> {
  const path = `/2018-06-01/runtime/invocation/${id}`
  try {
    const result = await handler(event, context)
    await told(`${path}/response`, result ?? null)
  } catch (error) {
    await told(`${path}/error`, { errorType: 'Error', errorMessage: String(error) })
  }
}

async function told(path: string, value: unknown): Promise<void> {
  const answer = await exchange(api('POST', path), JSON.stringify(value))
  answer.resume()
}

function api(method: string, path: string): ClientRequest {
  return request({ hostname, port, method, path })
}

function exchange(asking: ClientRequest, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asking.once('response', resolve).once('error', reject).end(body)
  })
}

function contextOf(awsRequestId: string, deadline: number): object {
  return {
    awsRequestId,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: '$LATEST',
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    invokedFunctionArn: `arn:aws:lambda:us-east-1:000000000000:function:${process.env.AWS_LAMBDA_FUNCTION_NAME}`,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  }
}
