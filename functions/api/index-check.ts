import { RunfoldError } from '#schema'

/**
 * Refuses every request where archives are stored and the index knows none of their runs: it would give out epochs again
 * that old writers still hold (P5). Looked at by the first request of a process, and again while it is so.
 */
export function createIndexCheck(isLost: () => Promise<boolean>): () => Promise<void> {
  let isSound = false
  return async () => {
    if (isSound) return
    if (await isLost()) {
      const message = 'runs are stored here, but the index knows none: restore it, or run `runfold rebuild`'
      throw new RunfoldError('unavailable', message, { retry_after_s: 60 })
    }
    isSound = true
  }
}
