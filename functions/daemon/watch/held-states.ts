import type { RunState, RunStates } from './run-state.ts'

/**
 * States that outlive a disk that does not take them, or gives them back damaged: all of it can be found out again, so it is no
 * reason to stop sending. What could not be written is held here until it can; `tell` hears of the first failure in a row.
 */
export const heldStates = (kept: RunStates, tell: (error: Error) => void): RunStates => {
  const held = new Map<string, RunState>()
  let isFailing = false
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if (!isFailing) tell(error as Error)
      isFailing = true
      return undefined
    }
  }
  const write = (state: RunState): boolean =>
    attempt(() => {
      kept.put(state)
      return true
    }) === true
  /** Stops at the first that is refused: a full disk is asked once a state, not once for each that waits. */
  const writeHeld = () => {
    for (const state of held.values()) {
      if (!write(state)) return
      held.delete(state.run_id)
    }
    isFailing = false
  }
  return {
    get: (run_id) => held.get(run_id) ?? attempt(() => kept.get(run_id)),
    put: (state) => {
      held.set(state.run_id, state)
      writeHeld()
    },
    *all() {
      for (const state of kept.all()) yield held.get(state.run_id) ?? state
    },
  }
}
