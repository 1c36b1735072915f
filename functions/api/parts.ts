import type { Feature } from '#schema'
import type { SessionArchive } from '#sessions/archive'
import type { Archive, Clock, Tokens } from '#store'
import type { Limits } from './limits.ts'
import type { Login } from './login.ts'

export type AuditedAct =
  | 'lease.force'
  | 'archive.read'
  | 'token.make'
  | 'token.revoke'
  | 'run.delete'
  | 'session.read'
  | 'session.delete'

/** One line of the request log, and what the metrics count. Never a token, a query or a byte of a body. */
export interface RequestEvent {
  readonly request_id: string
  readonly method: string
  /** The route's pattern; undefined where no route was found. */
  readonly route: string | undefined
  readonly tenant?: string
  readonly run_id?: string
  /** Under which the caller writes. */
  readonly epoch?: number
  readonly token_id?: string
  /** Of what an operator may have to account for, as `run.delete`; also where it was refused. */
  readonly audit?: AuditedAct
  /** What it was done to, where no run is. */
  readonly subject?: string
  readonly status: number
  /** Of a problem. */
  readonly code?: string
  /** Decoded bytes of the request's body. */
  readonly bytes_in: number
  readonly ms: number
  /** What was thrown where the answer is `internal`; for the log only. */
  readonly cause?: unknown
}

/** What the app is made of; the shells choose the store and the clock. */
export interface Parts {
  readonly archive: Archive
  readonly sessions: SessionArchive
  readonly tokens: Tokens
  readonly clock: Clock
  readonly limits: Limits
  readonly features: readonly Feature[]
  readonly version: string
  /** Of the local server only. */
  readonly login?: Login
  readonly observe?: (event: RequestEvent) => void
  /** Throws where a request may not come in at all, whatever its token. */
  readonly admit?: (headers: Headers) => void | Promise<void>
  /** The longest answer that the platform lets through. */
  readonly maxAnswerBytes?: number
  /** Aborts when the process is about to end, so that waiting requests answer. */
  readonly closing?: AbortSignal
}
