import { RunfoldError } from '../../schema/index.ts'

/** The machine is short of something, or forbids it; the same request may succeed later. */
const PASSING = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EACCES',
  'EPERM',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
  'EBUSY',
])

/** The system's name of an error, such as ENOENT. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function isPassing(error: unknown): boolean {
  return PASSING.has(errnoOf(error) ?? '')
}

/** Errors of the file system end here: `unavailable` where waiting may help, else `internal`. */
export function diskError(error: unknown): RunfoldError {
  if (error instanceof RunfoldError) return error
  const errno = errnoOf(error) ?? 'unknown'
  return isPassing(error)
    ? new RunfoldError('unavailable', `the disk refuses: ${errno}`, { retry_after_s: 5 }, { cause: error })
    : new RunfoldError('internal', `the disk failed: ${errno}`, {}, { cause: error })
}

// SQLite's result codes, of which the low byte is the kind.
const SQLITE_BUSY = 5
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14

function sqliteKind(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

/** Whether another process has the database locked. */
export function isBusy(error: unknown): boolean {
  return sqliteKind(error) === SQLITE_BUSY
}

/** After a failed write or fsync nobody knows what is on the disk. */
export function isBroken(error: unknown): boolean {
  return sqliteKind(error) === SQLITE_IOERR
}

/** SQLite's errors end here, as `diskError` has it. */
export function sqliteError(error: unknown): RunfoldError {
  const kind = sqliteKind(error) ?? 0
  return [SQLITE_FULL, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_BUSY].includes(kind)
    ? new RunfoldError('unavailable', 'the index cannot be written', { retry_after_s: 5 }, { cause: error })
    : new RunfoldError('internal', 'the index failed', {}, { cause: error })
}
