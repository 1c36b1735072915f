import type { FileAppendAnswer, SessionKey } from '../../schema/index.ts'
import { type Appended, appendFile } from './append.ts'
import { deriveSession } from './derive.ts'
import type { FileAppend } from './file.ts'
import { isLeftToMaintenance, knownProblems } from './head.ts'
import type { SessionParts } from './parts.ts'

/** Appends, and then derives what is new of it. The derivation never fails the append: the bytes are durable before it begins. */
export async function appendAndDerive(
  parts: SessionParts,
  session: SessionKey,
  request: FileAppend,
): Promise<FileAppendAnswer> {
  const appended = await appendFile(parts, session, request)
  const { tail, digest, generation, replayed } = appended
  return { tail, digest, generation, replayed, ...(await outcomeOf(parts, session, request, appended)) }
}

async function outcomeOf(
  parts: SessionParts,
  session: SessionKey,
  { bytes }: FileAppend,
  { head, replayed }: Appended,
): Promise<Pick<FileAppendAnswer, 'outcome' | 'problems'>> {
  const isNew = !replayed && bytes.length > 0
  if (replayed || isLeftToMaintenance(session, head)) {
    return { outcome: isNew ? 'archived' : 'skipped', problems: knownProblems(head) }
  }
  try {
    const { derived } = await deriveSession(parts, session, { want: 'entry' })
    const problems = derived?.problems ?? null
    if (!isNew) return { outcome: 'skipped', problems }
    return { outcome: problems ? 'partial' : 'archived', problems }
  } catch (error) {
    parts.failed?.(session, error)
    return { outcome: 'failed', problems: null }
  }
}
