import type { SessionKey } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { takingTurns } from '../../store/index.ts'
import type { DerivedPointer, StoredDocument } from '../../store/ports.ts'
import { deriveAgent, deriveSession } from './derive.ts'
import { currentFiles, transcriptOf } from './files.ts'
import { livingHead } from './head.ts'
import type { SessionParts } from './parts.ts'

const PIECE_BYTES = 4 * 1024 * 1024
/** A document that was made anew and is already not what it should be a moment later is nobody's accident. */
const MAX_TRIES = 3

export interface SessionDocument {
  readonly bytes: number
  readonly sha256: string
  /** Bytes start..end, fetched as they are consumed; throws where the storage holds something else by now. */
  body(start: number, end: number): AsyncIterable<Uint8Array>
}

/**
 * The canonical document of a session, or of one of its sub-agents; derived first where none that is stored counts. Where that
 * cannot be done, the last one that was made is given as it is.
 *
 * @throws not_found
 */
export async function readDocument(
  parts: SessionParts,
  session: SessionKey,
  agent?: string,
): Promise<SessionDocument> {
  let distrusted: string | undefined
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const wanted = { want: 'document', ...(distrusted !== undefined && { distrusted }) } as const
    const { document } = await pointerOf(parts, session, agent, wanted)
    const opened = document && (await openDocument(parts, document))
    if (opened) return opened
    distrusted = document?.etag
  }
  throw new RunfoldError('internal', 'the stored document changes while it is read')
}

async function pointerOf(
  parts: SessionParts,
  session: SessionKey,
  agent: string | undefined,
  wanted: Parameters<typeof deriveSession>[2],
): Promise<Pick<DerivedPointer, 'document'>> {
  try {
    if (agent !== undefined) return await deriveAgent(parts, session, agent, wanted)
    return (await deriveSession(parts, session, wanted)).derived as DerivedPointer
  } catch (error) {
    if (isRunfoldError(error, 'not_found')) throw error
    const document = await lastDocument(parts, session, agent)
    if (document && document.etag !== wanted.distrusted) return { document }
    throw error
  }
}

/** The one that was stored last, whether or not it still counts. */
export async function lastDocument(
  parts: SessionParts,
  session: SessionKey,
  agent: string | undefined,
): Promise<StoredDocument | null | undefined> {
  const { life, derived } = await livingHead(parts, session)
  if (agent === undefined) return derived?.document
  const found = await currentFiles(parts, session, life)
  return transcriptOf(session, found, agent)?.file.derived?.document
}

/** Undefined where what is stored under its key is not the document. */
export async function openDocument(
  { ports: { objects } }: SessionParts,
  { key, etag, bytes, sha256 }: StoredDocument,
): Promise<SessionDocument | undefined> {
  const piece = async (start: number, end: number) => {
    const found = await objects.tagged(key, { start, end: Math.min(end, start + PIECE_BYTES) })
    return found?.etag === etag && found.length === bytes ? found.bytes : undefined
  }
  const first = await piece(0, bytes)
  if (!first) return undefined
  return { bytes, sha256, body }

  async function* body(start: number, end: number): AsyncGenerator<Uint8Array> {
    const turn = takingTurns()
    for (let at = start; at < end; ) {
      const isHere = at < (first?.length ?? 0)
      const next = isHere ? first?.subarray(at, end) : await piece(at, end)
      if (!next?.length) throw new RunfoldError('internal', 'the stored document changed while it was read')
      yield next
      at += next.length
      await turn()
    }
  }
}
