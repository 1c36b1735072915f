import type { RunfoldError } from '#schema'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/**
 * A time without server (or without a token that it takes). One run then tries for all, the one that met it, so that
 * thousands of them do not knock at a door that is shut.
 */
export class Outage {
  #probe: string | undefined
  #pauseMs = 0

  /** The run that tries for all; undefined while there is no outage. */
  get probe(): string | undefined {
    return this.#probe
  }

  /** Whether a run may be looked at now. */
  lets(run: string): boolean {
    return this.#probe === undefined || this.#probe === run
  }

  /** How long to wait before the next try, if this was the run that tries; and whether that is news. */
  met(run: string, error: RunfoldError): { readonly pauseMs: number; readonly isNew: boolean } {
    const isNew = this.#probe === undefined
    if (!isNew && this.#probe !== run) return { pauseMs: 0, isNew: false }
    this.#probe = run
    this.#pauseMs =
      error.code === 'unauthorized'
        ? LONGEST_PAUSE_MS
        : Math.min(LONGEST_PAUSE_MS, isNew ? FIRST_PAUSE_MS : this.#pauseMs * 2)
    const asked = Math.min(Number(error.facts.retry_after_s) || 0, LONGEST_PAUSE_MS / 1000) * 1000
    return { pauseMs: Math.max(this.#pauseMs, asked), isNew }
  }

  /** Whether this run's good end is the end of the outage. */
  overBy(run: string): boolean {
    if (this.#probe !== run) return false
    this.#probe = undefined
    return true
  }
}
