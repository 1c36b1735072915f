import * as z from 'zod'
import { digest, queryInt, serverTime, size } from './name.ts'

// The names of sessions and of their files, and what is asked and answered about files (API.md, "Sessions"; SESSIONS.md 1.2
// and 8). sessions.ts has the catalog and the documents.

/** One spelling everywhere: in JSON, URLs, keys and the catalog (SESSIONS.md 2, the name trap). */
export const HARNESSES = ['claude-code', 'codex', 'kimi-code'] as const
export const harness = z.enum(HARNESSES)

export const SESSION_ID_BYTES = 200
export const SESSION_PATH_BYTES = 512

const bytesIn = (text: string) => new TextEncoder().encode(text).length
/** C0, DEL and C1; a lone half of a surrogate pair has no UTF-8. */
const UNWRITABLE = /[\p{Cc}\p{Cs}]/u

export const sessionId = z
  .string()
  .refine(
    (id) => id !== '' && bytesIn(id) <= SESSION_ID_BYTES,
    `a session id is of 1 to ${SESSION_ID_BYTES} bytes`,
  )
  .refine(
    (id) => id !== '.' && id !== '..' && !UNWRITABLE.test(id),
    'a session id is no dots and no controls',
  )
  // One segment of a URL and of folders everywhere: behind a proxy that decodes it, it would be two.
  .refine((id) => !/[/\\]/.test(id), 'a session id holds no / and no \\')

/** A configured name of a machine, never taken from a home folder. */
export const machineName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'a machine is 1 to 64 characters of A-Z a-z 0-9 . _ -, the first a letter or a digit',
  )

/** Session-relative (SESSIONS.md 8): never renamed, only refused with the reason. */
export const sessionPath = z.string().superRefine((path, context) => {
  const wrong = wrongPath(path)
  if (wrong) context.addIssue({ code: 'custom', message: wrong })
})

function wrongPath(path: string): string | undefined {
  if (path === '') return 'a path is not empty'
  if (bytesIn(path) > SESSION_PATH_BYTES) return `a path has at most ${SESSION_PATH_BYTES} bytes`
  if (UNWRITABLE.test(path)) return 'a path holds no control characters'
  if (path.includes('\\')) return 'a path is separated by /, and holds no \\'
  if (/^[A-Za-z]:/.test(path)) return 'a path begins with no drive'
  const segments = path.split('/')
  if (segments[0] === '') return 'a path is relative'
  if (segments.includes('')) return 'a path has no empty segment'
  if (segments.includes('.') || segments.includes('..')) return 'a path has no segment . or ..'
  return undefined
}

/** The session's name in the store. */
export interface SessionKey {
  readonly tenant: string
  readonly machine: string
  readonly harness: (typeof HARNESSES)[number]
  readonly id: string
}

export const sessionParams = z.object({ harness, session_id: sessionId })

/** From 1: what is older than the first generation was never there. */
const generationNumber = queryInt.refine((n) => n >= 1, 'generations are numbered from 1')

export const fileAppendQuery = z.strictObject({
  machine: machineName,
  path: sessionPath,
  generation: generationNumber,
  offset: queryInt,
})

/**
 * What became of the bytes: `archived`; `skipped`, nothing was new; `partial`, stored, and the derived form reports problems;
 * `failed`, stored, and the derived form stayed as it was.
 */
export const sessionOutcome = z.enum(['archived', 'skipped', 'partial', 'failed'])

export const fileAppendAnswer = z.object({
  tail: size,
  digest,
  generation: size,
  replayed: z.boolean(),
  outcome: sessionOutcome,
  /** Of the document; null while its derivation is due. */
  problems: size.nullable(),
})

export const sessionFile = z.object({
  path: z.string(),
  generation: size,
  tail: size,
  digest,
  first_at: serverTime,
  last_at: serverTime,
  /** Whether documents are derived from this one. */
  current: z.boolean(),
})

export const sessionFiles = z.object({
  /** By path, each path's generations from the first on. */
  items: z.array(sessionFile),
  /** Of the document, as in the answer to an append; older servers leave it out. */
  problems: size.nullable().optional(),
})

export const rawQuery = z.strictObject({
  machine: machineName.optional(),
  path: sessionPath,
  /** The newest one where it is left out. */
  generation: generationNumber.optional(),
})

export type Harness = z.infer<typeof harness>
export type FileAppendQuery = z.infer<typeof fileAppendQuery>
export type FileAppendAnswer = z.infer<typeof fileAppendAnswer>
export type SessionOutcome = z.infer<typeof sessionOutcome>
export type SessionFileRow = z.infer<typeof sessionFile>
export type SessionFilesAnswer = z.infer<typeof sessionFiles>
