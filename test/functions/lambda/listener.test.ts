import { EventEmitter } from 'node:events'
import type { Context, LambdaFunctionURLEvent } from 'aws-lambda'
import { beforeAll, describe, expect, it } from 'vitest'
import { lambdaListener } from '../../../functions/api/lambda-listener.ts'
import { requestOf } from '../../../functions/api/lambda-request.ts'

// The two thin translations, on streams and events of our own; the whole of it runs in bundle.test.ts.

beforeAll(() => {
  const from = (stream: Taken, prelude: object) => Object.assign(stream, { prelude })
  Object.assign(globalThis, { awslambda: { HttpResponseStream: { from } } })
})

/** What a stream of Lambda's was given. It takes so many writes before it asks to be waited for. */
class Taken extends EventEmitter {
  readonly writes: (string | Uint8Array)[] = []
  readonly prelude: unknown
  room = Number.POSITIVE_INFINITY
  isEnded = false

  write(chunk: string | Uint8Array): boolean {
    this.writes.push(chunk)
    return this.writes.length < this.room
  }

  end(...given: unknown[]): void {
    if (given.length > 0) throw new Error('what is given to `end` is lost')
    this.isEnded = true
  }

  get text(): string {
    return this.writes
      .map((chunk) => (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()))
      .join('')
  }
}

const event = (over: object = {}): LambdaFunctionURLEvent =>
  ({
    version: '2.0',
    rawPath: '/v1/runs',
    rawQueryString: '',
    headers: {},
    requestContext: { http: { method: 'GET', sourceIp: '10.0.0.1' } },
    isBase64Encoded: false,
    ...over,
  }) as LambdaFunctionURLEvent

const MINUTE = 60_000

function listening(fetch: (request: Request) => Response | Promise<Response>, remaining = MINUTE) {
  const stream = new Taken()
  const told: string[] = []
  const listener = lambdaListener({
    fetch,
    afterwards: async () => void told.push(stream.isEnded ? 'after the end' : 'without an end'),
    failed: (message) => told.push(message),
  })
  const context = { awsRequestId: 'id-1', getRemainingTimeInMillis: () => remaining } as Context
  const run = (given = event()) => listener(given, stream as never, context)
  return { stream, told, run }
}

/** Bytes that come for ever, each when the one before was taken. */
function endless() {
  const source = { given: 0, isCancelled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        await new Promise(setImmediate)
        source.given++
        controller.enqueue(new Uint8Array([0x61]))
      },
      cancel: () => {
        source.isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { source, body }
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate)
}

describe('an answer', () => {
  it('sends its head at once, then its pieces, then its end', async () => {
    const { stream, told, run } = listening(
      () => new Response('ab', { status: 201, headers: { 'x-a': 'b' } }),
    )
    await run()
    expect(stream.prelude).toMatchObject({ statusCode: 201, headers: { 'x-a': 'b' } })
    expect(stream.writes[0]).toBe('')
    expect(stream.text).toBe('ab')
    expect(told).toEqual(['after the end'])
  })

  it('without a body has a head all the same', async () => {
    const { stream, run } = listening(() => new Response(null, { status: 204 }))
    await run()
    expect(stream.writes).toEqual([''])
    expect(stream.isEnded).toBe(true)
  })

  it('is read no faster than it is taken', async () => {
    const { source, body } = endless()
    const { stream, run } = listening(() => new Response(body))
    stream.room = 4
    const sending = run()
    await until(() => stream.writes.length === 4)
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
    expect(source.given).toBe(3) // the first write was the head
    stream.emit('drain')
    await until(() => stream.writes.length > 4)
    stream.emit('close')
    await sending
  })

  it('lets its source go when nobody takes it any more, and is no failure', async () => {
    const { source, body } = endless()
    let signal: AbortSignal | undefined
    const { stream, told, run } = listening((request) => {
      signal = request.signal
      return new Response(body)
    })
    const sending = run()
    await until(() => stream.writes.length > 2)
    stream.emit('close')
    await sending
    expect(source.isCancelled).toBe(true)
    expect(signal?.aborted).toBe(true)
    expect(stream.isEnded).toBe(false)
    expect(told).toEqual(['without an end'])
  })

  it('that would outlast the function is broken off, and does not look whole', async () => {
    const { source, body } = endless()
    const { stream, told, run } = listening(() => new Response(body), 1_000 + 30)
    await expect(run()).rejects.toThrow('the function may run no longer')
    expect(source.isCancelled).toBe(true)
    expect(stream.isEnded).toBe(false)
    expect(told).toEqual(['an answer was broken off', 'without an end'])
  })

  it('that breaks off inside does not look whole either', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error('an object is gone')),
    })
    const { stream, run } = listening(() => new Response(body))
    await expect(run()).rejects.toThrow('an object is gone')
    expect(stream.isEnded).toBe(false)
  })
})

describe('an event', () => {
  const never = new AbortController().signal
  const posted = (body: string, isBase64Encoded: boolean, headers: object = {}) =>
    requestOf(
      event({ body, isBase64Encoded, headers, requestContext: { http: { method: 'POST', sourceIp: '' } } }),
      never,
    ).request

  it('becomes the request that it tells of', () => {
    const { request, target, peer } = requestOf(
      event({ rawPath: '/v1/runs/a', rawQueryString: 'x=%2B1', headers: { authorization: 'Bearer t' } }),
      never,
    )
    expect(target).toBe('/v1/runs/a?x=%2B1')
    expect(peer).toBe('10.0.0.1')
    expect(request.headers.get('authorization')).toBe('Bearer t')
  })

  it('gives all 256 byte values back out of base64, and text as UTF-8', async () => {
    const all = Uint8Array.from({ length: 256 }, (_, n) => n)
    const binary = posted(Buffer.from(all).toString('base64'), true)
    expect(new Uint8Array(await binary.arrayBuffer())).toEqual(all)
    expect(await posted('{"a":"ä€😀"}', false).text()).toBe('{"a":"ä€😀"}')
    expect(posted('', true).body).toBeNull()
  })

  it('with a header that no header can be is read without it', () => {
    const { headers } = posted('x', false, { 'x-odd': '😀', 'x-line': 'a\nb', 'x-plain': 'ok' })
    expect([headers.get('x-odd'), headers.get('x-line'), headers.get('x-plain')]).toEqual([null, null, 'ok'])
  })

  it('that is none of a function URL is refused as any bad request', async () => {
    const { stream, run } = listening(() => new Response('never'))
    await run({} as LambdaFunctionURLEvent)
    expect(stream.prelude).toMatchObject({ statusCode: 400 })
    expect(JSON.parse(stream.text)).toMatchObject({ code: 'bad_request', request_id: 'id-1' })
  })
})
