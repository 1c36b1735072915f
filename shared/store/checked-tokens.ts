import type { Clock, StoredToken, TokenIndex } from './ports.ts'

/** So late may a revocation be seen by a process that has just checked the token. */
const CACHE_MS = 30_000
/** Tokens kept at most; the one that was checked anew the longest ago goes first. */
const CACHE_TOKENS = 1000
/** A token in constant use is written as used so often. */
const TOUCH_MS = 60_000

/** Tokens as the index has them, those that were checked a moment ago from memory. */
export class CheckedTokens {
  readonly #index: TokenIndex
  readonly #clock: Clock
  readonly #kept = new Map<string, { readonly token: StoredToken; readonly until: number }>()

  constructor(index: TokenIndex, clock: Clock) {
    this.#index = index
    this.#clock = clock
  }

  /** Undefined where there is no such token. */
  async find(hash: string): Promise<StoredToken | undefined> {
    const known = this.#kept.get(hash)
    if (known && known.until > this.#clock.now()) return known.token
    const token = await this.#index.byHash(hash)
    this.#kept.delete(hash)
    if (!token) return undefined
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < CACHE_TOKENS) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(hash, { token, until: this.#clock.now() + CACHE_MS })
    const now = this.#clock.now()
    if (now - (token.last_used_at ?? 0) > TOUCH_MS) await this.#index.touch(hash, now)
    return token
  }

  /** So that its revocation is seen here at once. */
  forget(token_id: string): void {
    for (const [hash, { token }] of this.#kept) if (token.token_id === token_id) this.#kept.delete(hash)
  }
}
