import * as z from 'zod'
import { serverTime, size } from './name.ts'
import { limitOf } from './run.ts'
import { catalogEntry } from './session.ts'
import { harness, machineName, SESSION_ID_BYTES } from './session-files.ts'

// What is asked and answered about the catalog and the documents (API.md, "Sessions"; SESSIONS.md 1.2 and 3).

export const documentQuery = z.strictObject({
  machine: machineName.optional(),
  agent: z.string().min(1).max(SESSION_ID_BYTES).optional(),
})

export const sessionQuery = z.strictObject({ machine: machineName.optional() })

export const SESSIONS_LIMIT = { default: 50, max: 200 } as const

export const sessionsQuery = z.strictObject({
  harness: harness.optional(),
  machine: machineName.optional(),
  cwd: z.string().max(4096).optional(),
  q: z.string().max(1000).optional(),
  limit: limitOf(SESSIONS_LIMIT),
  cursor: z.string().optional(),
})

/** What only the server knows of an entry; it stands behind the derived part. */
export const entryOfServer = z.object({
  machine: machineName,
  archived_at: serverTime,
  /** The parser that made the derived part; null while there is none. */
  parser: z.union([z.string(), size]).nullable(),
  file_count: size,
  raw_bytes: size,
})

/** Only what could not be derived yet has no document. */
export const listedSession = catalogEntry.partial({ document: true }).extend(entryOfServer.shape)

export const sessionsAnswer = z.object({
  items: z.array(listedSession),
  next_cursor: z.string().nullable(),
  scan_truncated: z.boolean().optional(),
})

/** Raw bytes that are not what was appended, and documents that could not be derived. */
export const sessionVerifyAnswer = z.object({
  ok: z.boolean(),
  files: size,
  /** Raw bytes read, of every generation. */
  bytes: size,
  problems: z.array(
    z.object({
      path: z.string(),
      generation: size,
      offset: size,
      length: size,
      code: z.string(),
      detail: z.string(),
    }),
  ),
  /** Transcripts whose stored document was not what it should be, and was made anew. */
  repaired: z.array(z.string()),
})

/** Of schema 1; what stands in it is fixed by the harness's parser, and given as it was stored. */
export const sessionDocument = z.looseObject({
  schema: z.literal(1),
  harness,
  id: z.string(),
  agent: z.string().optional(),
  messages: z.array(z.looseObject({ role: z.string(), kind: z.string(), content: z.array(z.unknown()) })),
})

export type SessionsQuery = z.infer<typeof sessionsQuery>
export type ListedSession = z.infer<typeof listedSession>
export type SessionsAnswer = z.infer<typeof sessionsAnswer>
export type SessionVerifyAnswer = z.infer<typeof sessionVerifyAnswer>
