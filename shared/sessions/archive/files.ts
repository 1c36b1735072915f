import {
  type SessionFileRow,
  type SessionFilesAnswer,
  type SessionKey,
  sessionId,
} from '../../schema/index.ts'
import { released } from '../../store/index.ts'
import type { ClosedGeneration, FileItem, NamedFile } from '../../store/ports.ts'
import type { FileVersion, SessionFiles } from '../adapter.ts'
import { transcriptsOf } from '../harnesses.ts'
import { isLiving, knownProblems, livingHead } from './head.ts'
import type { SessionParts } from './parts.ts'
import { openGeneration } from './raw.ts'

/** One piece is parsed while the next is fetched: parsing is slower than storage, and what waits takes memory. */
const PIECES_AT_ONCE = 2

/** The newest generation of each file of a life, as they are at one moment. */
export async function currentFiles(
  { ports: { sessions } }: SessionParts,
  session: SessionKey,
  life: number,
): Promise<readonly NamedFile[]> {
  const found: NamedFile[] = []
  for await (const named of sessions.files(session, life)) if (named.file.generation > 0) found.push(named)
  return found
}

/** The same as a derivation wants them. */
export function filesToDerive(
  parts: SessionParts,
  session: SessionKey,
  life: number,
  found: readonly NamedFile[],
): SessionFiles {
  const byPath = new Map(found.map(({ path, file }) => [path, file]))
  const versionOf = ({ path, file: { generation, tail, digest } }: NamedFile): FileVersion => ({
    path,
    generation,
    tail,
    digest,
  })
  return {
    list: found.map(versionOf),
    read: ({ path, tail }, from) => {
      const file = byPath.get(path) as FileItem
      return released(openGeneration(parts, session, { life, path }, file).bytes(from, tail, PIECES_AT_ONCE))
    },
  }
}

/** The file that is a sub-agent's transcript. */
export function transcriptOf(
  { harness, id }: SessionKey,
  found: readonly NamedFile[],
  agent: string,
): NamedFile | undefined {
  const paths = found.map(({ path }) => path)
  const own = transcriptsOf(harness, id, paths).find((transcript) => transcript.agent === agent)
  return found.find(({ path }) => path === own?.path)
}

/** Every generation of every file, by path and number, and what the document reports. */
export async function listFiles(parts: SessionParts, session: SessionKey): Promise<SessionFilesAnswer> {
  const head = await livingHead(parts, session)
  const { life } = head
  const files = await currentFiles(parts, session, life)
  const current = new Map(files.map(({ path, file }) => [path, file.generation]))
  const rows = files.map(({ path, file }) => rowOf(path, file, true))
  for await (const { path, closed } of parts.ports.sessions.closedGenerations(session, life)) {
    // One that its file has not gone past is not true yet.
    if (closed.generation < (current.get(path) ?? 0)) rows.push(rowOf(path, closed, false))
  }
  rows.sort((a, b) => (a.path === b.path ? a.generation - b.generation : a.path < b.path ? -1 : 1))
  return { items: rows, problems: knownProblems(head) }
}

function rowOf(path: string, item: FileItem | ClosedGeneration, current: boolean): SessionFileRow {
  const { generation, tail, digest, first_at, last_at } = item
  return {
    path,
    generation,
    tail,
    digest,
    first_at: new Date(first_at).toISOString(),
    last_at: new Date(last_at).toISOString(),
    current,
  }
}

/**
 * The files of another session, of which one may be a fork; undefined where it is not archived. A record may call it anything:
 * what is no session's id is not asked for.
 */
export async function ancestorFiles(
  parts: SessionParts,
  ancestor: SessionKey,
): Promise<SessionFiles | undefined> {
  if (!sessionId.safeParse(ancestor.id).success) return undefined
  const head = await parts.ports.sessions.head(ancestor)
  if (!isLiving(head)) return undefined
  return filesToDerive(parts, ancestor, head.life, await currentFiles(parts, ancestor, head.life))
}
