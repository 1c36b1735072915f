/** The longest stretch of work without a pause. */
const WORK_MS = 20

/**
 * Gives the other requests of this process their turn. Folding a stored archive is one long chain of microtasks when its
 * bytes are there already, and timers and sockets wait until it ends. This is about the thread, not about the time of runs, so
 * it asks no Clock.
 *
 * @returns a function to be called after each bit of work: undefined, or a promise to be awaited before the next one
 */
export function takingTurns(): () => Promise<void> | undefined {
  let began = performance.now()
  return () => {
    if (performance.now() - began < WORK_MS) return undefined
    return new Promise((resolve) => {
      setTimeout(() => {
        began = performance.now()
        resolve()
      })
    })
  }
}
