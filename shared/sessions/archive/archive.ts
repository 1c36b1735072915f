import type {
  FileAppendAnswer,
  SessionFilesAnswer,
  SessionKey,
  SessionsAnswer,
  SessionsQuery,
  SessionVerifyAnswer,
} from '../../schema/index.ts'
import { readDocument, type SessionDocument } from './document.ts'
import type { FileAppend } from './file.ts'
import { listFiles } from './files.ts'
import { listSessions } from './list.ts'
import { appendAndDerive } from './outcome.ts'
import type { SessionParts } from './parts.ts'
import { type RawFile, rawFile } from './raw.ts'
import { machineOf, removeSession } from './remove.ts'
import { Turns } from './turns.ts'
import { verifySession } from './verify.ts'

/** All that can be done with sessions; who may do it is the edge's business. Every method throws RunfoldErrors alone. */
export interface SessionArchive extends SessionParts {
  append(session: SessionKey, request: FileAppend): Promise<FileAppendAnswer>
  files(session: SessionKey): Promise<SessionFilesAnswer>
  raw(session: SessionKey, path: string, generation?: number): Promise<RawFile>
  document(session: SessionKey, agent?: string): Promise<SessionDocument>
  list(tenant: string, query: SessionsQuery): Promise<SessionsAnswer>
  verify(session: SessionKey): Promise<SessionVerifyAnswer>
  remove(session: SessionKey): Promise<void>
  /** The session that is meant where the machine may be left out. */
  find(session: Omit<SessionKey, 'machine'>, machine: string | undefined): Promise<SessionKey>
}

export function createSessionArchive(
  ports: SessionParts['ports'],
  options: Pick<SessionParts, 'clock' | 'limits' | 'observe' | 'failed'>,
): SessionArchive {
  const parts: SessionParts = { ports, turns: new Turns(), ...options }
  return {
    ...parts,
    append: (session, request) => appendAndDerive(parts, session, request),
    files: (session) => listFiles(parts, session),
    raw: (session, path, generation) => rawFile(parts, session, path, generation),
    document: (session, agent) => readDocument(parts, session, agent),
    list: (tenant, query) => listSessions(parts, tenant, query),
    verify: (session) => verifySession(parts, session),
    remove: (session) => removeSession(parts, session),
    find: (session, machine) => machineOf(parts, session, machine),
  }
}
