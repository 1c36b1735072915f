import { DatabaseSync } from 'node:sqlite'
import { RunfoldError } from '../../schema/index.ts'
import type { Disk } from './disk.ts'
import { isBroken, isBusy, sqliteError } from './disk-error.ts'
import { migrate } from './schema.ts'

/** Opens the index and keeps it locked until the process ends, however it ends. Throws Errors for the person who starts it. */
export function openDatabase(file: string): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file)
    database.exec(`
      PRAGMA busy_timeout = 1000;
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA secure_delete = ON; -- what is deleted does not stay in free pages
      PRAGMA fullfsync = ${process.platform === 'darwin' ? 1 : 0};`)
    migrate(database)
    return database
  } catch (error) {
    database?.close()
    if (isBusy(error)) throw new Error(`another runfold server uses ${file}`, { cause: error })
    throw new Error(`the index ${file} cannot be opened: ${(error as Error).message}`, { cause: error })
  }
}

interface Waiting {
  readonly act: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** Writes that arrive together share one transaction and so one fsync. */
export class GroupCommit {
  readonly #database: DatabaseSync
  readonly #disk: Disk
  #waiting: Waiting[] = []

  constructor(database: DatabaseSync, disk: Disk) {
    this.#database = database
    this.#disk = disk
  }

  /** Runs `act` in a transaction; durable when it resolves. `act` must be synchronous and only touch the database. */
  write<T>(act: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush())
      this.#waiting.push({ act, resolve, reject })
    })
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      const results = waiting.map(({ act }) => act())
      this.#database.exec('COMMIT')
      for (const [i, { resolve }] of waiting.entries()) resolve(results[i] as never)
    } catch (error) {
      const refusal = this.#undo(error)
      for (const { reject } of waiting) reject(refusal)
    }
  }

  #undo(error: unknown): RunfoldError {
    if (!this.#database.isOpen) return sqliteError(error)
    if (isBroken(error)) return this.#disk.fail(error)
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
    } catch (second) {
      return this.#disk.fail(second)
    }
    return error instanceof RunfoldError ? error : sqliteError(error)
  }
}
