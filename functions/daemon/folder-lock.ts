import { truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Whoever only asks whether somebody has the lock takes it for a moment. */
const PATIENCE_MS = 250

/**
 * An exclusive lock in the shape of a file, which the operating system itself gives free however its holder ends: SQLite has
 * the only such locks that Node offers. Undefined when another process has it.
 */
export const takeLock = (path: string): Disposable | undefined => {
  try {
    return lockOf(path)
  } catch (error) {
    if (!isDamaged(error)) throw error
    // Something else was written into it, which locks nothing. It is emptied in place: a file of that name may be locked by now.
    truncateSync(path)
    return lockOf(path)
  }
}

const lockOf = (path: string): Disposable | undefined => {
  const lock = new DatabaseSync(path)
  try {
    lock.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE`)
    return { [Symbol.dispose]: () => lock.isOpen && lock.close() }
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

const SQLITE_BUSY = 5
const SQLITE_READONLY = 8
const SQLITE_CORRUPT = 11
const SQLITE_CANTOPEN = 14
const SQLITE_NOTADB = 26

/** SQLite's primary result code; the bits above it only tell more of the same. */
const codeOf = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) & 0xff

const isBusy = (error: unknown): boolean => codeOf(error) === SQLITE_BUSY

/** Whether a database, or its folder, belongs to somebody else. */
export const isNotOurs = (error: unknown): boolean =>
  codeOf(error) === SQLITE_READONLY || codeOf(error) === SQLITE_CANTOPEN

/** Whether a file is no database, or a broken one. */
export const isDamaged = (error: unknown): boolean =>
  codeOf(error) === SQLITE_NOTADB || codeOf(error) === SQLITE_CORRUPT
