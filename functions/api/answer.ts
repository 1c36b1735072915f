import { joined, jsonChunks } from '#codec'
import { MAX_BUFFERED_BYTES } from './limits.ts'
import { type BodyInit, type BodySource, bodyOf, gather } from './stream.ts'

export interface AnswerInit extends BodyInit {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

const NO_STORE = { 'Cache-Control': 'no-store' }
export const NDJSON = 'application/x-ndjson'

/** JSON with exact digits (Raw, bigint and JsonNumber as they are): with its length when it is small, streamed when not. */
export function answerJson(value: unknown, init: AnswerInit = {}): Response {
  const headers = { 'Content-Type': 'application/json', ...NO_STORE, ...init.headers }
  const status = init.status ?? 200
  const chunks = jsonChunks(value)
  const first: Uint8Array[] = []
  let length = 0
  for (let next = chunks.next(); !next.done; next = chunks.next()) {
    first.push(next.value)
    length += next.value.length
    if (length > MAX_BUFFERED_BYTES) {
      return new Response(bodyOf(first, chunks, init), { status, headers })
    }
  }
  return new Response(joined(first), { status, headers: { ...headers, 'Content-Length': String(length) } })
}

/** An item a line. */
export async function answerLines(items: AsyncIterable<unknown>, init: AnswerInit = {}): Promise<Response> {
  return answerStream(lines(items), { ...init, headers: { 'Content-Type': NDJSON, ...init.headers } })
}

/**
 * Bytes as they come. As many as are sent at once are read before the status is, so that what fails at once, or anywhere in
 * a short answer, is a problem that names what is missing (P7) and not a cut. Content-Type is the caller's.
 */
export async function answerStream(chunks: BodySource, init: AnswerInit): Promise<Response> {
  const source = iteratorOf(chunks)
  const { pieces } = await gather([], source)
  const body = bodyOf(pieces, source, init)
  return new Response(body, { status: init.status ?? 200, headers: { ...NO_STORE, ...init.headers } })
}

export function answerNothing(
  status: 204 | 303 | 304,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(null, { status, headers: { ...NO_STORE, ...headers } })
}

const newline = new Uint8Array([0x0a])

async function* lines(items: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const item of items) {
    yield* jsonChunks(item)
    yield newline
  }
}

const iteratorOf = (source: BodySource) =>
  Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
