import type { Client } from '#client'
import { isRunfoldError, type Lease, type LeaseAnswer, WAIT_S_MAX, type Worker } from '#schema'

export interface TakeOptions {
  readonly client: Client
  readonly run: string
  readonly worker: Worker
  /** Takes it from its holder at once. */
  readonly force?: boolean
  /** How long to wait for it. @default until it is free */
  readonly wait_s?: number
  readonly signal?: AbortSignal
  /** Told once, when somebody has it. */
  readonly onHeld?: (lease: Lease) => void
  readonly now: () => number
}

/** The lease of a run, waited for where another holds it. Rejects with `lease_held` when the wait is over. */
export const takeLease = async (options: TakeOptions): Promise<LeaseAnswer> => {
  const { client, run, worker, force, signal, now } = options
  const deadline = now() + (options.wait_s ?? Number.POSITIVE_INFINITY) * 1000
  for (let isFirst = true; ; isFirst = false) {
    signal?.throwIfAborted()
    const left = Math.max(0, Math.ceil((deadline - now()) / 1000))
    // The first try does not wait, so that one is told soon whom one waits for.
    const wait_s = isFirst ? 0 : Math.min(WAIT_S_MAX, left)
    try {
      return await client.acquire(run, { ...worker, ...(force && { force }), ...(wait_s > 0 && { wait_s }) })
    } catch (error) {
      if (!isRunfoldError(error, 'lease_held') || left === 0) throw error
      if (isFirst) options.onHeld?.(error.facts.lease as Lease)
    }
  }
}
