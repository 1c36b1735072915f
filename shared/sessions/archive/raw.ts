import type { SessionKey } from '../../schema/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import { type ExtentSource, extentBytes } from '../../store/index.ts'
import { extentKey } from '../../store/keys.ts'
import type { ClosedGeneration, FileItem, FilePlace } from '../../store/ports.ts'
import { generationPrefix } from '../../store/session-keys.ts'
import { livingHead } from './head.ts'
import type { SessionParts } from './parts.ts'

/** One generation of a file as it was at one moment. */
export interface RawFile {
  readonly generation: number
  readonly tail: number
  readonly digest: string
  /**
   * Bytes start..end, fetched as they are consumed, at most so many pieces at once; throws `internal` naming a range that is not
   * there (P7).
   */
  bytes(start: number, end: number, most?: number): AsyncIterable<Uint8Array>
}

/** @throws not_found */
export async function rawFile(
  parts: SessionParts,
  session: SessionKey,
  path: string,
  generation?: number,
): Promise<RawFile> {
  const { life } = await livingHead(parts, session)
  const place = { life, path }
  const found = await generationOf(parts, session, place, generation)
  if (found) return openGeneration(parts, session, place, found)
  throw new RunfoldError('not_found', 'there is no such file, or no such generation of it')
}

/** The newest where no number is given. A closed one that its file has not gone past is not true yet. */
async function generationOf(
  { ports: { sessions } }: SessionParts,
  session: SessionKey,
  place: FilePlace,
  number: number | undefined,
): Promise<FileItem | ClosedGeneration | undefined> {
  const file = await sessions.file(session, place)
  if (!file || file.generation === 0) return undefined
  if (number === undefined || number === file.generation) return file
  return number < file.generation ? sessions.closed(session, place, number) : undefined
}

export function openGeneration(
  parts: SessionParts,
  session: SessionKey,
  place: FilePlace,
  item: FileItem | ClosedGeneration,
): RawFile {
  const { generation, tail, digest } = item
  const prefix = generationPrefix(session, place, generation)
  const sourceOf = ({ extents }: { extents: FileItem['extents'] }): ExtentSource => ({
    extents,
    keyOf: (start, extent) => extentKey(prefix, start, extent),
  })
  const refresh = async () => {
    const fresh = await generationOf(parts, session, place, generation)
    if (fresh) return sourceOf(fresh)
    throw new RunfoldError('not_found', 'the session was removed while it was read')
  }
  return {
    generation,
    tail,
    digest,
    bytes: (start, end, most) => extentBytes(parts.ports.objects, sourceOf(item), refresh, start, end, most),
  }
}
