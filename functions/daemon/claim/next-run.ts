import { type Client, pause } from '#client'
import { isRunfoldError, type LeaseAnswer, WAIT_S_MAX, type Worker } from '#schema'

export interface NextRunOptions {
  /** Its requests end with `signal`, so that no claim is answered to nobody. */
  readonly client: Client
  readonly worker: Worker
  readonly capabilities: readonly string[]
  /** @default until there is one */
  readonly wait_s: number | undefined
  /** Milliseconds that never jump. */
  readonly now: () => number
  readonly signal: AbortSignal
  /** Told each time the server cannot be asked. */
  readonly onOutage: (error: Error) => void
}

const AGAIN_MS = 2000

/** The lease of a run that waits for somebody like us; undefined when the time is over. */
export const nextRun = async (options: NextRunOptions): Promise<LeaseAnswer | undefined> => {
  const { client, worker, capabilities, now, signal } = options
  const deadline = now() + (options.wait_s ?? Number.POSITIVE_INFINITY) * 1000
  for (;;) {
    signal.throwIfAborted()
    const left_s = Math.max(0, (deadline - now()) / 1000)
    const wait_s = Math.min(WAIT_S_MAX, Math.ceil(left_s))
    try {
      const lease = await client.claim({ ...worker, capabilities: [...capabilities], wait_s })
      if (lease || left_s <= 0) return lease
    } catch (error) {
      // A claim is never sent again by itself: whether the lost answer was a run, the server alone knows.
      if (left_s <= 0 || !isRunfoldError(error, 'unavailable', 'slow_down', 'internal')) throw error
      options.onOutage(error)
      await pause(AGAIN_MS, signal)
    }
  }
}
