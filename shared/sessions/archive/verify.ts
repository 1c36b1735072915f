import { loadDigest } from '../../codec/index.ts'
import type { SessionKey, SessionVerifyAnswer } from '../../schema/index.ts'
import { isRunfoldError } from '../../schema/index.ts'
import type { ClosedGeneration, FileItem, FilePlace, StoredDocument } from '../../store/ports.ts'
import { extended } from '../../store/replay.ts'
import { transcriptsOf } from '../harnesses.ts'
import { deriveAgent, deriveSession, type Wanted } from './derive.ts'
import { lastDocument, openDocument } from './document.ts'
import { currentFiles } from './files.ts'
import { livingHead } from './head.ts'
import type { SessionParts } from './parts.ts'
import { openGeneration } from './raw.ts'

type Problem = SessionVerifyAnswer['problems'][number]

/**
 * Reads every raw byte of a session again and says what is damaged. Then it reads the documents, and makes those anew that are
 * not what they should be.
 */
export async function verifySession(parts: SessionParts, session: SessionKey): Promise<SessionVerifyAnswer> {
  await loadDigest()
  const { life } = await livingHead(parts, session)
  const found = await currentFiles(parts, session, life)
  const problems: Problem[] = []
  let bytes = 0
  const check = async (path: string, item: FileItem | ClosedGeneration) => {
    bytes += item.tail
    const problem = await problemOf(parts, session, { life, path }, item)
    if (problem) problems.push({ path, generation: item.generation, ...problem })
  }
  for (const { path, file } of found) await check(path, file)
  const current = new Map(found.map(({ path, file }) => [path, file.generation]))
  for await (const { path, closed } of parts.ports.sessions.closedGenerations(session, life)) {
    if (closed.generation < (current.get(path) ?? 0)) await check(path, closed)
  }
  const paths = found.map(({ path }) => path)
  const repaired: string[] = []
  for (const { agent, path } of transcriptsOf(session.harness, session.id, paths)) {
    try {
      if (await isRepaired(parts, session, agent)) repaired.push(path)
    } catch (error) {
      if (!isRunfoldError(error, 'internal', 'unavailable')) throw error
      const generation = current.get(path) ?? 0
      problems.push({ path, generation, offset: 0, length: 0, code: 'not_derived', detail: error.message })
    }
  }
  return { ok: problems.length === 0, files: found.length, bytes, problems, repaired }
}

async function problemOf(
  parts: SessionParts,
  session: SessionKey,
  place: FilePlace,
  item: FileItem | ClosedGeneration,
): Promise<Omit<Problem, 'path' | 'generation'> | undefined> {
  const { tail, digest } = item
  try {
    const { bytes } = openGeneration(parts, session, place, item)
    if ((await digestOfAll(bytes(0, tail))) === digest) return undefined
  } catch (error) {
    if (!isRunfoldError(error, 'internal')) throw error
    const { offset, length } = error.facts as { offset: number; length: number }
    return { offset, length, code: 'unreadable_bytes', detail: error.message }
  }
  return { offset: 0, length: tail, code: 'wrong_digest', detail: 'they are not what was appended' }
}

/** Whether the stored document was not what it should be, and was made anew. */
async function isRepaired(
  parts: SessionParts,
  session: SessionKey,
  agent: string | undefined,
): Promise<boolean> {
  const known = await lastDocument(parts, session, agent)
  const isSound = !known || (await isWhole(parts, known))
  const wanted: Wanted = isSound ? { want: 'document' } : { want: 'document', anew: true }
  await (agent === undefined
    ? deriveSession(parts, session, wanted)
    : deriveAgent(parts, session, agent, wanted))
  return !isSound
}

async function isWhole(parts: SessionParts, document: StoredDocument): Promise<boolean> {
  const opened = await openDocument(parts, document)
  return opened !== undefined && (await digestOfAll(opened.body(0, opened.bytes))) === document.sha256
}

async function digestOfAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let seen = extended(null, [])
  for await (const chunk of chunks) seen = extended(seen.state, [chunk])
  return seen.digest
}
