import { type Context, Hono } from 'hono'
import { RunfoldError } from '#schema'
import { answerError, refusalOf } from './answer-error.ts'
import { handlerOf } from './call.ts'
import type { Env } from './env.ts'
import { BodyBudget } from './limits.ts'
import type { Parts } from './parts.ts'
import type { Route } from './route.ts'
import { allRoutes } from './routes/index.ts'
import { judgeTarget } from './target.ts'

/**
 * The REST edge (API.md) as web Request → Response; it knows no platform. A shell passes the request target as it came on
 * the wire in `env.target`, because a URL has been tidied already.
 */
export function createApp(parts: Parts): Hono<Env> {
  const app = new Hono<Env>()
  app.use(numbered(parts))
  app.use(async (c, next) => {
    await parts.admit?.(c.req.raw.headers)
    judgeTarget(c.env?.target ?? new URL(c.req.url).pathname)
    await next()
  })
  const offered = allRoutes(parts.features, parts.login)
  const budget = new BodyBudget(parts.limits)
  for (const route of offered) app.on(route.method, pattern(route), handlerOf(route, parts, budget))
  for (const path of new Set(offered.map(pattern))) app.all(path, refuseMethod(offered, path))
  app.notFound((c) => refuse(c, new RunfoldError('not_found', 'there is no such route')))
  app.onError((thrown, c) => refuse(c, thrown))
  return app
}

const pattern = (route: Route) => route.path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Outermost: gives the request its number and tells the observer how it ended. */
const numbered = (parts: Parts) => async (c: Context<Env>, next: () => Promise<void>) => {
  const began = performance.now()
  const request_id = c.env?.requestId ?? crypto.randomUUID()
  c.set('request_id', request_id)
  await next()
  if (c.req.method === 'HEAD') await bodyless(c)
  c.header('Runfold-Request-Id', request_id)
  c.header('X-Content-Type-Options', 'nosniff')
  const { refusal, ...seen } = c.get('seen') ?? {}
  parts.observe?.({
    request_id,
    method: c.req.method,
    route: undefined,
    bytes_in: 0,
    ...seen,
    ...(refusal && { code: refusal.error.code, cause: refusal.cause }),
    status: c.res.status,
    ms: performance.now() - began,
  })
}

/** What would have been streamed must be let go, or its source stays open. */
async function bodyless(c: Context<Env>): Promise<void> {
  const { status, headers, body } = c.res
  await body?.cancel()
  c.res = undefined
  c.res = new Response(null, { status, headers })
}

function refuse(c: Context<Env>, thrown: unknown): Response {
  const refusal = refusalOf(thrown)
  c.set('seen', { ...c.get('seen'), refusal })
  return answerError(refusal.error, c.get('request_id'))
}

function refuseMethod(offered: readonly Route[], path: string): () => never {
  const methods = offered.filter((route) => pattern(route) === path).map((route) => route.method as string)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()
  return () => {
    throw new RunfoldError('method_not_allowed', `this route takes ${allow.join(', ')}`, { allow })
  }
}
