import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isDamaged, isNotOurs, takeLock } from '../folder-lock.ts'
import type { RunState, RunStates } from './run-state.ts'

// SQLite, so that thousands of runs are one file, `status` may read while `watch` writes, and the operating system itself
// gives a lock back however its holder ended.

const STATE_FILE = 'watch.sqlite'
const LOCK_FILE = 'watch.lock'
/** How states are spelled; others are forgotten, which only costs a reading of the files. */
const VERSION = 1

export interface StateFile extends RunStates, Disposable {}

/**
 * Opens the states of a runs folder for its one watcher; undefined when another process watches the folder.
 *
 * @throws Error naming the folder, where nothing can be kept in it
 */
export const openStates = (stateFolder: string): StateFile | undefined => {
  try {
    return opened(stateFolder)
  } catch (cause) {
    const text = `what is known of the runs cannot be kept in ${stateFolder}: ${(cause as Error).message}`
    throw new Error(text, { cause })
  }
}

const opened = (stateFolder: string): StateFile | undefined => {
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
  const lock = takeLock(join(stateFolder, LOCK_FILE))
  if (!lock) return undefined
  try {
    const database = openDatabase(join(stateFolder, STATE_FILE))
    return {
      ...statesIn(database),
      [Symbol.dispose]: () => {
        database.close()
        lock[Symbol.dispose]()
      },
    }
  } catch (error) {
    lock[Symbol.dispose]()
    throw error
  }
}

const openDatabase = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path)
  try {
    return prepared(database)
  } catch (error) {
    database.close()
    if (!isDamaged(error)) throw error
    // Nothing is in it that cannot be found out again.
    for (const each of [path, `${path}-wal`, `${path}-shm`]) rmSync(each, { force: true })
    return prepared(new DatabaseSync(path))
  }
}

const prepared = (database: DatabaseSync): DatabaseSync => {
  // Nothing here needs to outlive a power cut, see RunState.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 5000')
  if (versionOf(database) !== VERSION) database.exec('DROP TABLE IF EXISTS run')
  database.exec(`
    CREATE TABLE IF NOT EXISTS run (run_id TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
    PRAGMA user_version = ${VERSION}`)
  return database
}

const versionOf = (database: DatabaseSync): number =>
  (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version

/** Whether a process watches the folder now. */
export const isWatched = (stateFolder: string): boolean => {
  if (!existsSync(join(stateFolder, LOCK_FILE))) return false
  const lock = takeLock(join(stateFolder, LOCK_FILE))
  lock?.[Symbol.dispose]()
  return lock === undefined
}

/** The states as they are now, whether a watcher runs or not; none where none ever has, or where they are damaged. */
export const readStates = (stateFolder: string): readonly RunState[] => {
  const path = join(stateFolder, STATE_FILE)
  if (!existsSync(path)) return []
  try {
    return statesOf(path)
  } catch (error) {
    if (isDamaged(error)) return []
    if (!isNotOurs(error)) throw error
    // Beside a file of somebody else, such as of `sudo runfold watch`, no log can be opened: it is read as it stands.
    const asItStands = pathToFileURL(path)
    asItStands.searchParams.set('immutable', '1')
    return statesOf(asItStands)
  }
}

const statesOf = (path: string | URL): readonly RunState[] => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return versionOf(database) === VERSION ? [...statesIn(database).all()] : []
  } finally {
    database.close()
  }
}

const statesIn = (database: DatabaseSync): RunStates => {
  const row = (found: unknown) => JSON.parse((found as { state: string }).state) as RunState
  const get = database.prepare('SELECT state FROM run WHERE run_id = ?')
  const all = database.prepare('SELECT state FROM run ORDER BY run_id')
  return {
    get: (run_id) => {
      const found = get.get(run_id)
      return found && row(found)
    },
    put: (state) => {
      database.prepare('INSERT OR REPLACE INTO run VALUES (?, ?)').run(state.run_id, JSON.stringify(state))
    },
    *all() {
      for (const found of all.iterate()) yield row(found)
    },
  }
}
