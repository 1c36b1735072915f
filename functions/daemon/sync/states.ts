import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Harness } from '#schema'
import type { FileState } from './file-state.ts'

// The one local database (SESSIONS.md 5). What it says is true of a file with the identity it names and of no other, so
// it may be lost, be older than the truth, or be written by two processes at once.

const FILE = 'sync.sqlite'
/** How states are spelled; others are forgotten, which costs a re-read. */
const VERSION = 1

export interface SessionName {
  readonly harness: Harness
  readonly id: string
}

interface Known {
  readonly id: string
  readonly state: FileState
}

/** What the document of a session is known to report; for the line about it, where nothing is asked of the server. */
interface Note {
  /** Of its problems. */
  readonly count: number
  readonly text: string
}

export interface SyncStates extends Disposable {
  file(session: SessionName, path: string): FileState | undefined
  put(session: SessionName, path: string, source: string, state: FileState): void
  forget(session: SessionName): void
  /** What is known of a source file under whatever session it was sent. */
  ofSource(source: string): Known | undefined
  /** Null where it reports none. */
  note(session: SessionName): Note | null
  setNote(session: SessionName, note: Note | null): void
  /** Why nothing of this is there the next time. */
  readonly trouble?: string | undefined
}

export const openSyncStates = (folder: string): SyncStates => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const database = opened(join(folder, FILE))
  try {
    return statesIn(database)
  } catch (error) {
    database.close()
    throw error
  }
}

export const openSyncStatesInMemory = (): SyncStates => statesIn(new DatabaseSync(':memory:'))

const statesIn = (database: DatabaseSync): SyncStates => {
  const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (user_version !== VERSION) database.exec('DROP TABLE IF EXISTS file; DROP TABLE IF EXISTS session')
  database.exec(`
    CREATE TABLE IF NOT EXISTS file (
      harness TEXT, id TEXT, path TEXT, source TEXT NOT NULL, state TEXT NOT NULL,
      PRIMARY KEY (harness, id, path)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS file_source ON file (source);
    CREATE TABLE IF NOT EXISTS session (
      harness TEXT, id TEXT, note TEXT, PRIMARY KEY (harness, id)
    ) WITHOUT ROWID;
    PRAGMA user_version = ${VERSION}`)
  const get = database.prepare('SELECT state FROM file WHERE harness = ? AND id = ? AND path = ?')
  const put = database.prepare('INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)')
  const drop = database.prepare('DELETE FROM file WHERE harness = ? AND id = ?')
  const bySource = database.prepare('SELECT id, state FROM file WHERE source = ? LIMIT 1')
  const getNote = database.prepare('SELECT note FROM session WHERE harness = ? AND id = ?')
  const putNote = database.prepare('INSERT OR REPLACE INTO session VALUES (?, ?, ?)')
  const stateIn = (row: Record<string, unknown>) => JSON.parse(String(row.state)) as FileState
  return {
    file: ({ harness, id }, path) => {
      const row = get.get(harness, id, path)
      return row && stateIn(row)
    },
    put: ({ harness, id }, path, source, state) => {
      put.run(harness, id, path, source, JSON.stringify(state))
    },
    forget: ({ harness, id }) => {
      drop.run(harness, id)
    },
    ofSource: (source) => {
      const row = bySource.get(source)
      return row && { id: String(row.id), state: stateIn(row) }
    },
    note: ({ harness, id }) => noteIn(getNote.get(harness, id)?.note as string | null | undefined),
    setNote: ({ harness, id }, note) => {
      putNote.run(harness, id, note && JSON.stringify(note))
    },
    [Symbol.dispose]: () => database.close(),
  }
}

/** Notes were texts alone once: no count is that of such a one, so it is asked for again. */
const noteIn = (text: string | null | undefined): Note | null => {
  if (!text) return null
  return text.startsWith('{') ? (JSON.parse(text) as Note) : { count: -1, text }
}

/** One that cannot be read is as good as lost. */
const opened = (file: string): DatabaseSync => {
  for (let isFirst = true; ; isFirst = false) {
    const database = new DatabaseSync(file)
    try {
      database.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
      return database
    } catch (error) {
      database.close()
      if (!isFirst || !isDamage(error)) throw error
      remove(file)
    }
  }
}

/** Whether it is the database itself that is broken; a new one will not be. */
export const isDamage = (error: unknown): boolean =>
  error instanceof SyntaxError || /not a database|malformed/.test((error as Error).message)

export const removeSyncStates = (folder: string): void => remove(join(folder, FILE))

const remove = (file: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
}
