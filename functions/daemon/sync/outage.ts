import { isRunfoldError, type ProblemCode, type RunfoldError } from '#schema'

const AWAY: ReadonlySet<ProblemCode> = new Set(['unavailable', 'slow_down', 'unauthorized', 'forbidden'])

/** So many sessions in a row that fail inside the server are no longer trouble of their own. */
const BROKEN_AFTER = 3

/**
 * Once the server cannot be reached, or does not take the token, nobody else in the same pass asks it: a thousand sessions
 * would wait a thousand times for one answer. One session that it cannot work with keeps no others from it.
 */
export class Outage {
  #error: RunfoldError | undefined
  readonly #failedInside = new Set<object>()

  /** @throws what was met before */
  check(): void {
    if (this.#error) throw this.#error
  }

  /** Takes note of an error that all others would meet, too. */
  meet(error: unknown, session: object): void {
    if (!isRunfoldError(error)) return
    if (error.code === 'internal') this.#failedInside.add(session)
    if (AWAY.has(error.code) || this.#failedInside.size >= BROKEN_AFTER) this.#error = error
  }

  /** The server has done something that was asked of it. */
  isOver(): void {
    this.#failedInside.clear()
  }
}
