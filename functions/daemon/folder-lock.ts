import { DatabaseSync } from 'node:sqlite'

/** Whoever only asks whether somebody has the lock takes it for a moment. */
const PATIENCE_MS = 250

/**
 * An exclusive lock in the shape of a file, which the operating system itself gives free however its holder ends: SQLite has
 * the only such locks that Node offers. Undefined when another process has it.
 */
export const takeLock = (path: string): Disposable | undefined => {
  const lock = new DatabaseSync(path)
  try {
    lock.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE`)
    return { [Symbol.dispose]: () => lock.close() }
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

const SQLITE_BUSY = 5

const isBusy = (error: unknown): boolean => (error as { errcode?: number }).errcode === SQLITE_BUSY
