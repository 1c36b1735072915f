import type { Scope } from '../schema/index.ts'
import type { Objects } from './objects.ts'
import type { RunIndex } from './run-index.ts'
import type { SessionIndex } from './session-index.ts'
import type { UploadIndex, Uploads } from './uploads/ports.ts'

export type * from './objects.ts'
export type * from './run-index.ts'
export type * from './session-index.ts'
export type * from './uploads/ports.ts'

// The doors to storage. Logic stands above them, translation below; the contract suite in test/kit/store-contract.ts
// holds every adapter to what is promised here.

/** Passed in everywhere, so that tests need no sleeps and no promise depends on the machine's clock by accident (P6). */
export interface Clock {
  /** Server time in milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A token as it is kept; times in ms. */
export interface StoredToken {
  readonly token_id: string
  /** Lower-case hex SHA-256 of the token; the token itself is nowhere. */
  readonly hash: string
  readonly name: string
  readonly tenant: string
  readonly scopes: readonly Scope[]
  readonly run_prefix: string | null
  readonly expires_at: number | null
  readonly created_at: number
  readonly last_used_at: number | null
}

/** Tokens by hash and by tenant. */
export interface TokenIndex {
  put(token: StoredToken): Promise<void>
  byHash(hash: string): Promise<StoredToken | undefined>
  /** Oldest first. */
  list(tenant: string): Promise<readonly StoredToken[]>
  /** False when the tenant has no such token. */
  remove(tenant: string, token_id: string): Promise<boolean>
  /** Notes when the token was used; one that is gone stays gone. */
  touch(hash: string, last_used_at: number): Promise<void>
}

/** All doors of one store. */
export interface StorePorts {
  readonly objects: Objects
  readonly index: RunIndex
  readonly tokens: TokenIndex
  readonly uploads: Uploads
  readonly uploadIndex: UploadIndex
  readonly sessions: SessionIndex
}

/** A store that this process holds open and nobody else may open meanwhile. */
export interface LocalStore {
  readonly ports: StorePorts
  /** Resolves with the reason when what was written can no longer be trusted to be durable: the process must end. */
  readonly broken: Promise<unknown>
  close(): void
}
