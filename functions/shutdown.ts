/** The end of an answer is on its way to the platform when a handler has ended. */
const LAST_BYTES_MS = 100

export interface Shutdown {
  /** Aborts when the process is asked to end; whoever waits is answered then. */
  readonly closing: AbortSignal
  /** Keeps the process up until the work has ended. */
  during<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Ends the process on SIGTERM, but nothing in the middle of a request: Lambda says so a moment before it takes an
 * environment away. What it kills all the same is as a crash anywhere: bytes stored, and named by no head.
 */
export function endOnTerm(process: NodeJS.Process): Shutdown {
  const closing = new AbortController()
  let busy = 0
  const end = () => {
    if (closing.signal.aborted && busy === 0) process.exit(0)
  }
  process.once('SIGTERM', () => {
    closing.abort()
    end()
  })
  return {
    closing: closing.signal,
    during: async (work) => {
      busy++
      try {
        return await work()
      } finally {
        busy--
        if (closing.signal.aborted) setTimeout(end, LAST_BYTES_MS)
      }
    },
  }
}
