import type { SessionFileRow, SessionKey } from '../../schema/index.ts'
import { type Appended, appendFile } from './append.ts'
import type { FileAppend } from './file.ts'
import { listFiles } from './files.ts'
import type { SessionParts } from './parts.ts'
import { type RawFile, rawFile } from './raw.ts'
import { Turns } from './turns.ts'

/** All that can be done with sessions; who may do it is the edge's business. Every method throws RunfoldErrors alone. */
export interface SessionArchive extends SessionParts {
  append(session: SessionKey, request: FileAppend): Promise<Appended>
  files(session: SessionKey): Promise<SessionFileRow[]>
  raw(session: SessionKey, path: string, generation?: number): Promise<RawFile>
}

export function createSessionArchive(
  ports: SessionParts['ports'],
  options: Pick<SessionParts, 'clock' | 'limits' | 'observe'>,
): SessionArchive {
  const parts: SessionParts = { ports, turns: new Turns(), ...options }
  return {
    ...parts,
    append: (session, request) => appendFile(parts, session, request),
    files: (session) => listFiles(parts, session),
    raw: (session, path, generation) => rawFile(parts, session, path, generation),
  }
}
