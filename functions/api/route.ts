import type * as z from 'zod'
import type { Feature, ProblemCode, RunKey } from '#schema'
import type { Principal } from '#store'
import type { Need } from './auth.ts'
import type { AuditedAct, Parts } from './parts.ts'

/** One request, checked: the token, the scope, the prefix, every parameter and the body. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly parts: Parts
  readonly principal: Principal
  readonly params: Params
  readonly query: Query
  /** The query as it was given, before defaults. */
  readonly asked: Readonly<Record<string, string>>
  /** Of a route with `json`. */
  readonly body: Body
  /** Of a route with `bytes`: the decoded body. */
  readonly bytes: Uint8Array
  readonly headers: Headers
  readonly head: boolean
  /** How long the platform lets the answer take, ms; undefined where it may last for ever. */
  readonly answerMs: number | undefined
  /** How many bytes of the answer have left this process; undefined where that cannot be known. */
  readonly sent: (() => number) | undefined
  /** Puts the act on record, whether it succeeds or not. @param subject what it is done to, where no run is */
  readonly audit: (act: AuditedAct, subject?: string) => void
  /** For whoever waits: aborts when the caller leaves or the process ends. Made only when asked for. */
  readonly leaving: () => AbortSignal
  /** Throws when the token was revoked or has expired meanwhile; costs nothing but every 25 s. */
  readonly stillAllowed: () => Promise<void>
}

/** A kind of answer as OpenAPI shows it. */
export interface AnswerShape {
  readonly status: number
  readonly about: string
  readonly schema?: z.ZodType
  /** Media types besides JSON. */
  readonly types?: readonly string[]
  readonly headers?: readonly string[]
}

type Output<T> = T extends z.ZodType ? z.output<T> : unknown

/** A route said once: what parses its requests is what OpenAPI shows. */
interface RouteSpec<P, Q, B> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `{name}` for parameters. */
  readonly path: `/v1/${string}`
  readonly about: string
  readonly need: Need
  readonly feature?: Feature
  /** HEAD is answered by every GET; here it is a documented operation. */
  readonly head?: true
  readonly params?: P
  readonly query?: Q
  readonly json?: B
  /** With `json`: an absent body is an empty object. */
  readonly bodyless?: true
  /** Media types of a body that is taken as bytes. */
  readonly bytes?: readonly string[]
  /** Of such a body. @default the largest batch */
  readonly maxBytes?: (parts: Parts) => number
  /** Judges what is known before the body is received; for routes that need no token. */
  readonly admit?: (call: Pick<Call<Output<P>, Output<Q>>, 'parts' | 'params' | 'query'>) => Promise<void>
  readonly answers: readonly AnswerShape[]
  readonly problems: readonly ProblemCode[]
  handle(call: Call<Output<P>, Output<Q>, Output<B>>): Promise<Response> | Response
}

export type Route = RouteSpec<z.ZodType, z.ZodType, z.ZodType>

/** Keeps the types of parameters within the route and forgets them outside. */
export const defineRoute = <
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  spec: RouteSpec<P, Q, B>,
): Route => spec as unknown as Route

/** The run a request is about, in the caller's own tenant: another tenant's runs cannot be named. */
export const runOf = (call: Call<unknown, unknown, unknown>): RunKey => ({
  tenant: call.principal.tenant,
  run_id: (call.params as { run_id: string }).run_id,
})
