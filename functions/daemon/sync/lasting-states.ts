import {
  isDamage,
  openSyncStates,
  openSyncStatesInMemory,
  removeSyncStates,
  type SyncStates,
} from './states.ts'

/**
 * What is remembered in a folder for as long as the disk takes it: where that is full, read-only or broken, the sync goes on
 * with what it remembers in memory, and where what was written is damaged, with nothing. What is forgotten costs a re-read; what
 * is not archived may be gone tomorrow.
 */
export const openLastingStates = (folder: string): SyncStates => {
  let trouble: string | undefined
  const inMemory = (error: unknown): SyncStates => {
    trouble = `${folder} cannot be used: ${(error as Error).message}`
    return openSyncStatesInMemory()
  }
  let isAnew = false
  const anew = (error: unknown): SyncStates => {
    if (isAnew || !isDamage(error)) return inMemory(error)
    isAnew = true
    removeSyncStates(folder)
    return opened(folder, inMemory)
  }
  let states = opened(folder, anew)
  const close = () => {
    try {
      states[Symbol.dispose]()
    } catch {} // it was to be forgotten anyway
  }
  const use = <T>(ask: (states: SyncStates) => T): T => {
    try {
      return ask(states)
    } catch (error) {
      if (trouble !== undefined) throw error
      close()
      states = anew(error)
      return ask(states)
    }
  }
  return {
    get trouble() {
      return trouble
    },
    file: (session, path) => use((to) => to.file(session, path)),
    put: (session, path, source, state) => use((to) => to.put(session, path, source, state)),
    forget: (session) => use((to) => to.forget(session)),
    ofSource: (source) => use((to) => to.ofSource(source)),
    note: (session) => use((to) => to.note(session)),
    setNote: (session, note) => use((to) => to.setNote(session, note)),
    [Symbol.dispose]: close,
  }
}

const opened = (folder: string, otherwise: (error: unknown) => SyncStates): SyncStates => {
  try {
    return openSyncStates(folder)
  } catch (error) {
    return otherwise(error)
  }
}
