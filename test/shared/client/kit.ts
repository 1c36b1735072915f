import { type Client, createClient, Redacted } from '#client'
import type { Feature } from '#schema'
import { createSessionArchive } from '#sessions/archive'
import { createArchive, createTokens, makeTokenText, systemClock } from '#store'
import { memoryPorts } from '#store/memory'
import { createApp } from '../../../functions/api/app.ts'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'

export const URL_OF_SERVER = 'https://runfold.example'

/** What happens to a request on its way: the server's answer can be replaced, or lost after the server did its work. */
export type Mishap = (request: Request, answer: () => Promise<Response>) => Promise<Response>

export interface Server {
  readonly token: string
  /** Every request that was sent, as `METHOD /path?query`. */
  readonly requests: string[]
  readonly pauses: number[]
  /** For the next requests, one each; afterwards everything goes well. */
  readonly mishaps: Mishap[]
  readonly fetch: typeof fetch
  readonly client: Client
}

/** A whole server in memory, reached by an injected fetch. */
export const startServer = async (
  maxBatchBytes = LOCAL_LIMITS.max_batch_bytes,
  features: readonly Feature[] = [],
): Promise<Server> => {
  const ports = memoryPorts(systemClock)
  const limits = { ...LOCAL_LIMITS, max_batch_bytes: maxBatchBytes }
  const tokens = createTokens(ports.tokens, systemClock)
  const token = makeTokenText()
  await tokens.install(token)
  const archive = createArchive(ports, { clock: systemClock, limits })
  const sessions = createSessionArchive(ports, { clock: systemClock, limits })
  const app = createApp({ archive, sessions, tokens, clock: systemClock, limits, features, version: 'test' })

  const requests: string[] = []
  const pauses: number[] = []
  const mishaps: Mishap[] = []
  const send: typeof fetch = async (input, init) => {
    init?.signal?.throwIfAborted()
    const request = new Request(input, init)
    requests.push(`${request.method} ${request.url.slice(URL_OF_SERVER.length)}`)
    const answer = async () => app.fetch(request)
    const mishap = mishaps.shift()
    return mishap ? mishap(request, answer) : answer()
  }
  const client = createClient({
    url: URL_OF_SERVER,
    token: new Redacted(token),
    fetch: send,
    retry: { firstPauseMs: 1, longestPauseMs: 1, sleep: async (ms) => void pauses.push(ms) },
  })
  return { token, requests, pauses, mishaps, fetch: send, client }
}

/** The server does its work, and the answer never arrives. */
export const lostAnswer: Mishap = async (_, answer) => {
  await answer()
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) })
}

/** The connection breaks before the server hears of it. */
export const lostRequest: Mishap = async () => {
  throw new TypeError('fetch failed', {
    cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
  })
}

/** The server refuses with a problem of its own. */
export const refused =
  (status: number, code: string, facts: object = {}, headers: Record<string, string> = {}): Mishap =>
  async () =>
    new Response(
      JSON.stringify({
        type: `urn:runfold:problem:${code}`,
        title: code,
        status,
        detail: code,
        code,
        request_id: 'r',
        ...facts,
      }),
      {
        status,
        headers: { 'content-type': 'application/problem+json', ...headers },
      },
    )
