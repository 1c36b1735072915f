import { isRunfoldError, type ProblemCode, type RunfoldError } from '#schema'

const AWAY: ReadonlySet<ProblemCode> = new Set([
  'unavailable',
  'slow_down',
  'internal',
  'unauthorized',
  'forbidden',
])

/**
 * Once the server cannot be reached, or does not take the token, nobody else in the same pass asks it: a thousand sessions
 * would wait a thousand times for one answer.
 */
export class Outage {
  #error: RunfoldError | undefined

  /** @throws what was met before */
  check(): void {
    if (this.#error) throw this.#error
  }

  /** Whether the error is one that all others would meet. */
  meet(error: unknown): boolean {
    if (!isRunfoldError(error) || !AWAY.has(error.code)) return false
    this.#error = error
    return true
  }
}
