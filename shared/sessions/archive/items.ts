import type { SessionKey } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import type { FileItem, FilePlace, SessionHead, Versioned } from '../../store/ports.ts'
import { MAX_ATTEMPTS, type SessionParts } from './parts.ts'

// How items change: read, decide, put in place of what was read, and once more where someone was quicker.

/** Writes of unknown outcome after which the client is asked to come again. */
const MAX_UNKNOWN = 3

/** The item that takes the place of `item`. */
export function successor<T extends Versioned>(item: T, change: Partial<T>): T {
  return { ...item, ...change, version: item.version + 1 }
}

/**
 * Puts what `decide` makes of the present item in its place, and gives it; undefined where `decide` wants no change.
 *
 * @param decide pure; asked again after every try that failed or whose outcome is not known
 */
async function change<T extends Versioned>(
  read: () => Promise<T | undefined>,
  put: (item: T) => Promise<boolean>,
  decide: (item: T | undefined) => T | undefined,
): Promise<T | undefined> {
  let unknown = 0
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const next = decide(await read())
    if (next === undefined) return undefined
    try {
      if (await put(next)) return next
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable') || ++unknown > MAX_UNKNOWN) throw error
    }
  }
  throw new RunfoldError('slow_down', 'too many write to this session at once', { retry_after_s: 1 })
}

export function changeHead(
  { ports: { sessions }, clock }: SessionParts,
  session: SessionKey,
  decide: (head: SessionHead | undefined, now: number) => SessionHead | undefined,
): Promise<SessionHead | undefined> {
  return change(
    () => sessions.head(session),
    (head) => sessions.putHead(session, head),
    (head) => decide(head, clock.now()),
  )
}

export function changeFile(
  { ports: { sessions } }: SessionParts,
  session: SessionKey,
  place: FilePlace,
  decide: (file: FileItem | undefined) => FileItem | undefined,
): Promise<FileItem | undefined> {
  return change(
    () => sessions.file(session, place),
    (file) => sessions.putFile(session, place, file),
    decide,
  )
}
