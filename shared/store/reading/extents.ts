import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import type { Extent, Extents, Objects } from '../ports.ts'

// Reading what lies in extents, whatever they belong to: an archive (view.ts), or a file of a session.

/** Where the bytes of an archive are, as its newest item says. */
export interface ExtentSource {
  readonly extents: Extents
  /** The object of an extent that begins at `start`. */
  keyOf(start: number, extent: Extent): string
}

/** A range of the archive in one stored object. */
interface Piece {
  readonly start: number
  readonly end: number
  readonly key: string
  /** Where the object's first byte stands in the archive. */
  readonly origin: number
  /** Where its last byte stands, exclusive. */
  readonly objectEnd: number
}

const PIECE_BYTES = 4 * 1024 * 1024
/** A range up to this, such as the stretch behind a snapshot, is one piece where it lies in one object (P8). */
const WHOLE_BYTES = 8 * 1024 * 1024
/** Of a longer range the first piece is smaller: a page often ends in it. */
const FIRST_PIECE_BYTES = 1024 * 1024
/** Pieces that are fetched at once, at most, for a reader that may be as fast as the storage. */
const PIECES_AHEAD = 4
/** What may wait to be taken by all readers of this process together; over that nothing more is fetched ahead. */
const WAITING_BYTES_MAX = 128 * 1024 * 1024

let waitingBytes = 0

/**
 * Bytes start..end in order, fetched as they are consumed.
 *
 * @param refresh looks again; it is asked only when a named object has vanished, since merging replaces objects
 * @param most pieces that are fetched at once; with a slow reader more of them would only lie about
 * @throws internal with `offset` and `length` of a range that is not there (P7)
 */
export async function* extentBytes(
  objects: Objects,
  source: ExtentSource,
  refresh: () => Promise<ExtentSource>,
  start: number,
  end: number,
  most = PIECES_AHEAD,
): AsyncGenerator<Uint8Array> {
  let position = start
  let current = source
  let lost: Piece | undefined
  while (position < end) {
    for await (const { piece, chunk } of fetchAhead(objects, plan(current, position, end), most)) {
      if (chunk) {
        yield chunk
        position = piece.end
        continue
      }
      // Merging replaces objects and the sweep removes them a good while later: look where the bytes are now.
      if (lost?.start === piece.start) throw missing(piece.start, Math.min(end, piece.objectEnd))
      lost = piece
      current = await refresh()
      break
    }
  }
}

async function* fetchAhead(objects: Objects, pieces: Iterable<Piece>, most: number) {
  const source = pieces[Symbol.iterator]()
  const ahead: { piece: Piece; chunk: Promise<Uint8Array | undefined> }[] = []
  const shift = () => {
    const first = ahead.shift()
    if (first) waitingBytes -= lengthOf(first.piece)
    return first
  }
  try {
    // A page often ends within its first piece, so the reading ahead grows only as pieces are taken.
    for (let allowed = 1; ; allowed = Math.min(most, allowed + 1)) {
      while (ahead.length < (waitingBytes < WAITING_BYTES_MAX ? allowed : 1)) {
        const next = source.next()
        if (next.done) break
        const chunk = fetchPiece(objects, next.value)
        chunk.catch(() => {}) // an early end leaves it unwatched; whoever takes the piece sees its error
        ahead.push({ piece: next.value, chunk })
        waitingBytes += lengthOf(next.value)
      }
      const first = shift()
      if (!first) return
      yield { piece: first.piece, chunk: await first.chunk }
    }
  } finally {
    while (shift());
  }
}

const lengthOf = ({ start, end }: Piece): number => end - start

async function fetchPiece(
  objects: Objects,
  { start, end, key, origin }: Piece,
): Promise<Uint8Array | undefined> {
  const range = { start: start - origin, end: end - origin }
  const chunk = await objects.get(key, range).catch((error: unknown) => {
    // An adapter that finds fewer bytes than asked for knows no place in the archive; here it gets one.
    throw isRunfoldError(error, 'internal') ? missing(start, end, error) : error
  })
  if (chunk && chunk.length !== end - start) throw missing(start, end)
  return chunk
}

/** The pieces of start..end, lazily; throws where the extents leave a hole. */
function* plan({ extents, keyOf }: ExtentSource, start: number, end: number): Generator<Piece> {
  let position = start
  const isWhole = end - start <= WHOLE_BYTES
  let pieceBytes = isWhole ? WHOLE_BYTES : FIRST_PIECE_BYTES
  for (const [origin, extent] of inOrder(extents)) {
    const objectEnd = origin + extent.length
    if (objectEnd <= position) continue
    if (origin > position || position >= end) break
    const key = keyOf(origin, extent)
    while (position < Math.min(end, objectEnd)) {
      const pieceEnd = Math.min(end, objectEnd, position + pieceBytes)
      if (!isWhole) pieceBytes = PIECE_BYTES
      yield { start: position, end: pieceEnd, key, origin, objectEnd }
      position = pieceEnd
    }
  }
  if (position < end) throw missing(position, end)
}

export function inOrder(extents: Extents): [start: number, extent: Extent][] {
  return Object.keys(extents)
    .sort()
    .map((name) => [Number(name), extents[name] as Extent])
}

function missing(start: number, end: number, cause?: unknown): RunfoldError {
  const facts = { offset: start, length: end - start }
  return new RunfoldError('internal', `archive bytes ${start} to ${end} cannot be read`, facts, { cause })
}
