import type { Clock } from '#store'

/** Does `work` again and again until the signal aborts; what it throws is told and never ends the loop. */
export async function keepDoing(
  work: () => Promise<unknown>,
  {
    everyMs,
    clock,
    signal,
    failed,
  }: {
    readonly everyMs: number
    readonly clock: Clock
    readonly signal: AbortSignal
    readonly failed: (error: unknown) => void
  },
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(everyMs, signal)
    if (signal.aborted) return
    await work().catch(failed)
  }
}
