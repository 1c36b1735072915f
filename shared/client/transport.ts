import { jsonText, parseJson } from '../codec/index.ts'
import { isRunfoldError, type Json, type ProblemCode, RunfoldError } from '../schema/index.ts'
import type { Compress } from './compress.ts'
import { refusal, refusalOfHead } from './problem.ts'
import type { Redacted } from './redacted.ts'
import { type RetryPolicy, unreachable, withRetry } from './retry.ts'

export interface ClientOptions {
  /** Where the server is, with or without a path before `/v1`. */
  readonly url: string
  readonly token?: Redacted
  readonly fetch?: typeof fetch
  readonly retry?: RetryPolicy
  /** How batches are packed on their way to another machine. @default gzip */
  readonly compress?: Compress
  /** Ends every request of this client. */
  readonly signal?: AbortSignal
}

interface Sent {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly query?: Query
  readonly json?: unknown
  readonly body?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** False for the few requests that would do their work twice. @default true */
  readonly repeatable?: boolean
  /** Refusals which, when they answer a repetition, mean that an earlier attempt had done the work and its answer was lost. */
  readonly settledBy?: readonly ProblemCode[]
  /** Instead of the client's own. */
  readonly signal?: AbortSignal
  /**
   * For requests that are answered soon or never: how long the server is at work before it answers, in seconds. A connection that a
   * change of networks or a sleep has cut says nothing of it for minutes, and a lease does not last so long.
   */
  readonly soon?: number
}

export type QueryValue = string | number | boolean | readonly string[] | undefined
type Query = Readonly<Record<string, QueryValue>>

interface Addressed extends Sent {
  /** Path segments after `/v1`, not yet escaped. */
  readonly path: readonly string[]
}

/** To a URL that the server gave, which may lead to a storage service: the token stays here. */
interface Signed extends Sent {
  readonly signedUrl: string
}

export type Request = Addressed | Signed

/** Sends requests, again where that is allowed, and turns refusals into RunfoldError. */
export interface Transport {
  /** A good answer with its body unread. */
  open(request: Request): Promise<Response>
  /** A good answer read to its end by `read`; a connection lost meanwhile counts as a failed attempt. */
  ask<T>(request: Request, read: (response: Response) => Promise<T>): Promise<T>
  /** Whether the server is on this machine: compression would only cost time. */
  readonly isNear: boolean
}

export const createTransport = (options: ClientOptions): Transport => {
  const base = options.url.replace(/\/+$/, '')
  const send = options.fetch ?? fetch

  const once = async (request: Request, signal: AbortSignal | undefined): Promise<Response> => {
    const headers = new Headers(request.headers)
    if (options.token && !isSigned(request)) headers.set('authorization', `Bearer ${options.token.reveal()}`)
    const body = request.json === undefined ? request.body : jsonText(request.json)
    if (request.json !== undefined) headers.set('content-type', 'application/json')
    const { method = 'GET' } = request
    // Of a POST that is sent elsewhere a GET is made, whose answer means something else: `not_found`, for one.
    const isFollowed = method === 'GET' || method === 'HEAD' || isSigned(request)
    const asked = (within: AbortSignal | undefined) =>
      send(urlOf(base, request), {
        method,
        headers,
        redirect: isFollowed ? 'follow' : 'manual',
        ...(body !== undefined && { body: body as string | Uint8Array<ArrayBuffer> }),
        ...(within && { signal: within }),
      })
    const { soon } = request
    const response =
      soon === undefined
        ? await asked(signal)
        : await answeredWithin(timeFor(soon, body), base, asked, signal)
    if (response.ok) return response
    const refused = request.method === 'HEAD' ? refusalOfHead(response) : await refusal(response)
    throw isSigned(request) ? refusalOfStorage(refused) : refused
  }

  const ask = <T>(request: Request, read: (response: Response) => Promise<T>): Promise<T> => {
    const signal = request.signal ?? options.signal
    const attempt = async (number: number): Promise<T> => {
      try {
        return await read(await once(request, signal))
      } catch (error) {
        const settled = number > 1 && isRunfoldError(error) && request.settledBy?.includes(error.code)
        if (settled) return read(new Response(null, { status: 204 }))
        throw unreachable(error, base, signal)
      }
    }
    const policy = request.repeatable === false ? { ...options.retry, retries: 0 } : (options.retry ?? {})
    return withRetry(attempt, policy, signal)
  }

  return { ask, open: (request) => ask(request, async (response) => response), isNear: isLoopback(base) }
}

/** On top of what the server needs: the way there and back, and the start of a cold function. */
const PATIENCE_S = 30
/** The slowest connection that is given the time it needs; bytes in a second. */
const SLOWEST = 8 * 1024

const timeFor = (soon: number, body: string | Uint8Array | undefined): number =>
  (soon + PATIENCE_S + (body?.length ?? 0) / SLOWEST) * 1000

/** Only the answer's beginning is waited for; its body has a time of its own. */
const answeredWithin = async (
  ms: number,
  url: string,
  ask: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal | undefined,
): Promise<Response> => {
  const late = new AbortController()
  const timer = setTimeout(() => {
    const text = `no answer from ${url} within ${Math.round(ms / 1000)} s`
    late.abort(new RunfoldError('unavailable', text, { url, reason: 'ETIMEDOUT' }))
  }, ms)
  try {
    return await ask(signal ? AbortSignal.any([signal, late.signal]) : late.signal)
  } finally {
    clearTimeout(timer)
  }
}

const isSigned = (request: Request): request is Signed => 'signedUrl' in request

/** A relative URL is one of the server, which may have a path of its own before `/v1`. */
const urlOf = (base: string, request: Request): string => {
  if (!isSigned(request)) return `${base}/v1/${addressOf(request)}`
  return request.signedUrl.startsWith('/') ? base + request.signedUrl : request.signedUrl
}

/** A storage service speaks no problem+json; what it could not do now it may do later. */
const refusalOfStorage = (error: RunfoldError): RunfoldError => {
  const { foreign, http_status } = error.facts
  if (!foreign || Number(http_status) < 500) return error
  return new RunfoldError('unavailable', error.message, error.facts, { cause: error })
}

const addressOf = (request: Addressed): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined) query.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  return request.path.map(segment).join('/') + (query.size > 0 ? `?${query}` : '')
}

/** Refuses what URL parsing would tidy away, so that a name never reaches another route than its own. */
const segment = (name: string): string => {
  if (/^\.{0,2}$/.test(name)) throw new RunfoldError('bad_request', `"${name}" is no name`)
  return encodeURIComponent(name)
}

/** Whether a URL points at this very machine. */
export const isLoopback = (url: string): boolean => {
  const host = URL.parse(url)?.hostname ?? ''
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** A whole JSON answer with every digit kept. */
export const readJson = async (response: Response): Promise<Json> => {
  const bytes = new Uint8Array(await response.arrayBuffer())
  try {
    return parseJson(bytes)
  } catch (error) {
    const facts = { http_status: response.status, foreign: true }
    throw new RunfoldError('internal', 'the answer is not JSON', facts, { cause: error })
  }
}
