import type { Capabilities } from '#schema'
import { LEASE_TTL_S, RECORDS_LIMIT, RunfoldError } from '#schema'

export type Limits = Capabilities['limits']

/** A batch is held in memory whole, larger ones are uploaded in parts; a frame of 256 MiB is the format's own limit. */
export const LOCAL_LIMITS: Limits = {
  max_batch_bytes: 8 << 20,
  max_frame_bytes: 256 << 20,
  lease_ttl_s: LEASE_TTL_S,
  page_max: RECORDS_LIMIT.max,
}

/**
 * A request comes as one event of at most 6 MB (Lambda quotas), in which a binary body is base64: 4 MiB become 5.3 MiB, and
 * what is left is for headers and the event's own words.
 */
export const LAMBDA_LIMITS: Limits = { ...LOCAL_LIMITS, max_batch_bytes: 4 << 20 }

/** The most that a streamed answer may have: 200 MB, whichever of the two that is (Lambda quotas). */
export const LAMBDA_ANSWER_BYTES = 200_000_000

/** JSON requests are a handful of short members. */
export const MAX_JSON_BYTES = 256 << 10

/** An answer up to here is sent with its length; a longer one is streamed. */
export const MAX_BUFFERED_BYTES = 1 << 20

/** Batches that may be in memory at once, counted in full ones. */
const BATCHES_IN_FLIGHT = 8

/** Bodies of one token may fill so much of the budget, so that nobody's many or slow ones keep everybody else's out. */
const SHARE_OF_A_TOKEN = 0.5

/**
 * Bounds the body bytes that all requests hold together, and those of one token. Bytes count when they have come, so an idle
 * connection that announces a large body costs nothing.
 */
export class BodyBudget {
  readonly #max: number
  #held = 0
  readonly #heldBy = new Map<string, number>()

  constructor(limits: Limits) {
    this.#max = BATCHES_IN_FLIGHT * limits.max_batch_bytes
  }

  /**
   * One request's share: `take` throws `slow_down` over a bound, `release` gives all of it back.
   *
   * @param token_id whose request it is; those without a token are one another's
   */
  share(token_id: string): { take(bytes: number): void; release(): void } {
    let taken = 0
    const add = (bytes: number) => {
      const own = (this.#heldBy.get(token_id) ?? 0) + bytes
      if (own > 0) this.#heldBy.set(token_id, own)
      else this.#heldBy.delete(token_id)
      this.#held += bytes
      taken += bytes
    }
    return {
      take: (bytes) => {
        const own = this.#heldBy.get(token_id) ?? 0
        if (own + bytes > SHARE_OF_A_TOKEN * this.#max) throw tooMany('with this token')
        if (this.#held + bytes > this.#max) throw tooMany('at once')
        add(bytes)
      },
      release: () => add(-taken),
    }
  }
}

const tooMany = (how: string) =>
  new RunfoldError('slow_down', `too many bodies are being received ${how}`, { retry_after_s: 1 })

/** Bounds the streams that are open at once, so that whoever appends still finds a connection. */
export class StreamBudget {
  readonly #max: number
  #open = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Throws `slow_down` over the bound; call what it gives once the stream has ended. */
  take(): () => void {
    if (this.#open >= this.#max) {
      throw new RunfoldError('slow_down', `${this.#max} streams are open`, { retry_after_s: 5 })
    }
    this.#open++
    return () => {
      this.#open--
    }
  }
}
