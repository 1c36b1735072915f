import type { RunfoldError } from '#schema'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** A run that failed through so many outages, each of which others ended, is what is wrong, and not the server. */
const OWN_AFTER = 2

/** A run that could not be served when it was last looked at. */
interface Failing {
  pauseMs: number
  /** Not before this, in `now()` milliseconds; counts once the failure is its own. */
  until: number
  /** Outages that others found to be over while this run still waited. */
  outlived: number
}

export interface Met {
  /** How long this run waits before it tries again. */
  readonly pauseMs: number
  /** Whether an outage begins with this. */
  readonly isNew: boolean
}

/**
 * A time without server (or without a token that it takes). One run at a time then tries for all, in turn: thousands of them do
 * not knock at a door that is shut, and one that alone is not served, because its own archive or its size breaks something,
 * does not shut it for the others.
 */
export class Outage {
  readonly #failing = new Map<string, Failing>()
  #isOn = false
  #pauseMs = 0
  /** When the next run may try, in `now()` milliseconds. */
  #until = 0
  /** Who is trying. */
  #probe: string | undefined

  /** When a run may be looked at; infinitely late while another tries for all. */
  readyAt(run: string): number {
    const own = this.isOwn(run) ? (this.#failing.get(run)?.until ?? 0) : 0
    if (!this.#isOn) return own
    if (this.#probe !== undefined) return Number.POSITIVE_INFINITY
    return Math.max(own, this.#until)
  }

  /** Whether a run fails while others are served. */
  isOwn(run: string): boolean {
    return (this.#failing.get(run)?.outlived ?? 0) >= OWN_AFTER
  }

  begins(run: string): void {
    if (this.#isOn) this.#probe ??= run
  }

  /** A run was not served. */
  met(run: string, error: RunfoldError, now: number): Met {
    const wasProbe = this.#probe === run
    if (wasProbe) this.#probe = undefined
    const { outlived, pauseMs: before } = this.#failing.get(run) ?? { outlived: 0, pauseMs: 0 }
    const pauseMs = pauseAfter(before, error)
    this.#failing.set(run, { pauseMs, until: now + pauseMs, outlived })
    if (outlived >= OWN_AFTER) return { pauseMs, isNew: false }
    const isNew = !this.#isOn
    // What was under way when the outage began tells nothing new.
    if (isNew || wasProbe) {
      this.#pauseMs = pauseAfter(isNew ? 0 : this.#pauseMs, error)
      this.#until = now + this.#pauseMs
    }
    this.#isOn = true
    return { pauseMs: this.#pauseMs, isNew }
  }

  /** A look came to its end. Tells whether that was the end of an outage, which only an answer of the server can be. */
  ended(run: string, isAnswered: boolean): boolean {
    if (this.#probe === run) this.#probe = undefined
    if (!isAnswered) return false
    this.#failing.delete(run)
    if (!this.#isOn) return false
    this.#isOn = false
    for (const failing of this.#failing.values()) failing.outlived++
    return true
  }

  /** The run is not watched any more. */
  forget(run: string): void {
    this.#failing.delete(run)
  }
}

const pauseAfter = (before: number, { code, facts }: RunfoldError): number => {
  const asked = Math.min(Number(facts.retry_after_s) || 0, LONGEST_PAUSE_MS / 1000) * 1000
  const longer = code === 'unauthorized' ? LONGEST_PAUSE_MS : before * 2
  return Math.max(asked, FIRST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, longer))
}
