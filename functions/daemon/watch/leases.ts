import type { Client } from '#client'
import { isRunfoldError, type LeaseAnswer, type Worker } from '#schema'

/** When leases are renewed and let go; seconds. */
export interface LeasePolicy {
  /** How long a lease lasts while the run is being written. */
  readonly ttl_s: number
  /** A run that is not finished keeps its lease so long after it last grew: who waits for an answer is not idle. */
  readonly hold_s: number
}

/** The bounds of a lease that the server grants, in seconds. */
export type TtlBounds = () => Promise<{ readonly min: number; readonly max: number }>

interface Held {
  readonly epoch: number
  ttl_s: number
  /** When to look after it, in `now()` milliseconds. */
  due: number
  grownAt: number
}

/** A run that has been quiet for two of its short leases gets longer ones, so that thousands of them cost next to nothing. */
const QUIET_LEASES = 2
const LONG_FACTOR = 10
/** What is left of a lease when it is renewed. */
const RENEW_AT = 0.5

/**
 * The leases this process holds. Only runs that have something to send get one; it is renewed by every append, then by
 * itself, and let go when the run is finished or has long been quiet. Times are those of `now`, which must not jump.
 */
export class Leases {
  readonly #client: Client
  readonly #worker: Worker
  readonly #policy: LeasePolicy
  readonly #bounds: TtlBounds
  readonly #now: () => number
  readonly #held = new Map<string, Held>()

  constructor(client: Client, worker: Worker, policy: LeasePolicy, bounds: TtlBounds, now: () => number) {
    this.#client = client
    this.#worker = worker
    this.#policy = policy
    this.#bounds = bounds
    this.#now = now
  }

  /** The epoch of a lease that is held. */
  epoch(run: string): number | undefined {
    return this.#held.get(run)?.epoch
  }

  /** When a held lease must be looked after, in `now()` milliseconds. */
  due(run: string): number | undefined {
    return this.#held.get(run)?.due
  }

  runs(): readonly string[] {
    return [...this.#held.keys()]
  }

  /** Rejects with `lease_held` when another has it. */
  async take(run: string): Promise<LeaseAnswer> {
    const ttl_s = await this.#granted(this.#policy.ttl_s)
    const asked = this.#now()
    const answer = await this.#client.acquire(run, { ...this.#worker, ttl_s })
    const due = asked + ttl_s * 1000 * RENEW_AT
    this.#held.set(run, { epoch: answer.epoch, ttl_s, due, grownAt: asked })
    return answer
  }

  /** An append has renewed the lease, `asked` being when it was sent. */
  grew(run: string, asked: number): void {
    const held = this.#held.get(run)
    if (!held) return
    held.grownAt = asked
    held.due = asked + held.ttl_s * 1000 * RENEW_AT
  }

  /** Renews or lets go what is due. Rejects with `fenced` when another has the run. */
  async lookAfter(run: string, isFinished: boolean): Promise<void> {
    const held = this.#held.get(run)
    if (!held) return
    const quiet_s = (this.#now() - held.grownAt) / 1000
    if (isFinished || quiet_s >= this.#policy.hold_s) return this.release(run)
    const isLong = quiet_s >= QUIET_LEASES * this.#policy.ttl_s
    const ttl_s = await this.#granted(this.#policy.ttl_s * (isLong ? LONG_FACTOR : 1))
    if (this.#now() < held.due && ttl_s >= held.ttl_s) return
    const asked = this.#now()
    await this.#client.renew(run, { epoch: held.epoch, ttl_s })
    held.ttl_s = ttl_s
    held.due = asked + Math.min(ttl_s * 1000 * RENEW_AT, this.#policy.hold_s * 1000)
  }

  /** Gives a lease back; one that another has taken meanwhile is gone already. */
  async release(run: string): Promise<void> {
    const held = this.#held.get(run)
    this.#held.delete(run)
    if (!held) return
    try {
      await this.#client.release(run, held.epoch)
    } catch (error) {
      if (!isRunfoldError(error, 'fenced', 'not_found')) throw error
    }
  }

  /** Another has the run, or the run is gone. */
  forget(run: string): void {
    this.#held.delete(run)
  }

  async #granted(ttl_s: number): Promise<number> {
    const { min, max } = await this.#bounds()
    return Math.max(min, Math.min(max, ttl_s))
  }
}
