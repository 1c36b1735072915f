import type { Context } from 'hono'
import * as z from 'zod'
import type { Clock, Principal } from '#store'
import { authenticate, type Need, requirePrefix, requireScope } from './auth.ts'
import { type BodyRule, readBody } from './body.ts'
import type { Env } from './env.ts'
import { parsed } from './issues.ts'
import { readJson } from './json-body.ts'
import { type BodyBudget, MAX_JSON_BYTES } from './limits.ts'
import type { Parts } from './parts.ts'
import { readQuery } from './query.ts'
import type { Call, Route } from './route.ts'

const NO_PARAMETERS = z.strictObject({})
const NOBODY: Principal = { token_id: '', tenant: '', scopes: [], run_prefix: null, expires_at: null }
const NEVER = new AbortController().signal

/** Turns a route into a handler: who asks, may they, what exactly do they ask; only then the route's own code. */
export function handlerOf(route: Route, parts: Parts, budget: BodyBudget) {
  return async (c: Context<Env>): Promise<Response> => {
    const { raw } = c.req
    const params = c.req.param() as Record<string, string>
    const see = (more: object) => c.set('seen', { ...c.get('seen'), ...more })
    see({ route: route.path, ...(params.run_id && { run_id: params.run_id }) })
    const principal = await allowed(route.need, raw.headers, parts, params.run_id)
    see({ token_id: principal.token_id, ...(principal.tenant && { tenant: principal.tenant }) })
    const asked = readQuery(searchOf(c))
    const share = budget.share(principal.token_id)
    try {
      const question = {
        parts,
        params: route.params ? parsed(route.params, params) : params,
        query: parsed(route.query ?? NO_PARAMETERS, asked),
      }
      await route.admit?.(question)
      const call = {
        ...question,
        principal,
        asked,
        ...(await takeBody(route, raw, parts, share.take, params.run_id)),
        headers: raw.headers,
        head: c.req.method === 'HEAD',
        answerMs: c.env?.answerMs,
        sent: c.env?.sent,
        audit: (audit, subject) => see({ audit, ...(subject !== undefined && { subject }) }),
        leaving: () => AbortSignal.any([raw.signal, parts.closing ?? NEVER]),
        stillAllowed: recheck(parts.clock, () => allowed(route.need, raw.headers, parts, params.run_id)),
      } satisfies Call
      see({ bytes_in: call.bytes.length, ...epochOf(call) })
      return await route.handle(call)
    } finally {
      share.release()
    }
  }
}

/** Under which the caller writes, where the route asks for it in the query or in the body. */
function epochOf({ query, body }: Pick<Call, 'query' | 'body'>): { epoch?: number } {
  const { epoch } = { ...(body as object), ...(query as object) } as { epoch?: unknown }
  return typeof epoch === 'number' ? { epoch } : {}
}

async function allowed(need: Need, headers: Headers, parts: Parts, run_id: string | undefined) {
  if (need === 'nothing') return NOBODY
  const principal = await authenticate(headers, parts.tokens)
  if (need !== 'token') requireScope(principal, need)
  if (run_id !== undefined) requirePrefix(principal, run_id)
  return principal
}

/** With the 30 s of the token cache, a revocation ends a stream within 60 s. */
const RECHECK_MS = 25_000

function recheck(clock: Clock, check: () => Promise<unknown>): () => Promise<void> {
  let due = clock.now() + RECHECK_MS
  return async () => {
    if (clock.now() < due) return
    await check()
    due = clock.now() + RECHECK_MS
  }
}

/** The query as it came, where the shell says so: a URL escapes and cuts what it does not like. */
function searchOf(c: Context<Env>): string {
  const target = c.env?.target
  if (target === undefined) return new URL(c.req.url).search
  const cut = target.indexOf('?')
  return cut < 0 ? '' : target.slice(cut)
}

const NO_BYTES = new Uint8Array(0)

async function takeBody(
  route: Route,
  request: Request,
  parts: Parts,
  take: BodyRule['take'],
  run_id?: string,
) {
  if (route.bytes) {
    const { max_batch_bytes, max_frame_bytes } = parts.limits
    const uploads =
      run_id !== undefined && parts.features.includes('uploads')
        ? { uploads: `/v1/runs/${run_id}/uploads` }
        : {}
    const facts = { max_batch_bytes, max_frame_bytes, ...uploads }
    const maxBytes = route.maxBytes?.(parts) ?? max_batch_bytes
    const rule = { types: route.bytes, maxBytes, facts, take }
    return { body: undefined, bytes: await readBody(request, rule) }
  }
  if (!route.json) return { body: undefined, bytes: NO_BYTES }
  if (route.bodyless && request.headers.get('content-type') === null) {
    return { body: parsed(route.json, {}), bytes: NO_BYTES }
  }
  const facts = { max_json_bytes: MAX_JSON_BYTES }
  const bytes = await readBody(request, {
    types: ['application/json'],
    maxBytes: MAX_JSON_BYTES,
    facts,
    take,
  })
  const value = route.bodyless && bytes.length === 0 ? {} : readJson(bytes)
  return { body: parsed(route.json, value), bytes }
}
