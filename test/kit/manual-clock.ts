import type { Clock } from '#store'

export interface ManualClock extends Clock {
  advance(ms: number): void
}

/** Time that moves only when told to, or when somebody sleeps: waiting costs tests nothing. */
export function manualClock(start = Date.UTC(2026, 10, 30)): ManualClock {
  let now = start
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
    sleep: async (ms, signal) => {
      if (!signal?.aborted) now += ms
    },
  }
}
