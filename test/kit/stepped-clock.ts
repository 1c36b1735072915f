import { setImmediate } from 'node:timers/promises'
import type { Clock } from '#store'

export interface SteppedClock extends Clock {
  /** Lets so much time pass, waking sleepers in their order, and everything settle that they set going. */
  advance(ms: number): Promise<void>
  /** How many are asleep. */
  readonly sleeping: number
}

/** Time that stands still for sleepers too, until it is told to go on. */
export function steppedClock(start = Date.UTC(2026, 10, 30)): SteppedClock {
  let now = start
  let sleepers: { readonly at: number; readonly wake: () => void }[] = []
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) return resolve()
        const sleeper = { at: now + ms, wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          resolve()
        })
      }),
    advance: async (ms) => {
      const end = now + ms
      for (;;) {
        await settled()
        const next = sleepers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        sleepers = sleepers.filter((other) => other !== next)
        now = Math.max(now, next.at)
        next.wake()
      }
      now = end
    },
    get sleeping() {
      return sleepers.length
    },
  }
}

/** Everything that needs no time has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate()
}
