import { isRunfoldError } from '../schema/index.ts'
import type { RunIndex } from './ports.ts'

/** Commits of unknown outcome after which the client is asked to come again. */
const MAX_UNKNOWN = 3

/**
 * The index's `commit` for who looks at the head and judges anew after every false: it is false for a commit of unknown
 * outcome too, until there were too many of them.
 */
export function doubtfulCommit(index: RunIndex): RunIndex['commit'] {
  let unknown = 0
  return async (run, expect, change, card) => {
    try {
      return await index.commit(run, expect, change, card)
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable') || ++unknown > MAX_UNKNOWN) throw error
      return false
    }
  }
}
