import { setImmediate } from 'node:timers/promises'
import { joined } from '#codec'
import { release } from '#store'

export type BodySource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>
type Source = AsyncIterator<Uint8Array> | Iterator<Uint8Array>

/**
 * Small pieces are joined up to here, so that a line of NDJSON costs no write of its own. Between two such pieces the other
 * requests have their turn: a reader as fast as the source would otherwise keep the thread to itself.
 */
const PIECE_BYTES = 64 << 10

/** More than the head of an answer, which is sent before its first piece. */
const HEAD_BYTES_MAX = 64 << 10

export interface BodyInit {
  /** Asked before each piece; throws to break the body off. */
  readonly stillAllowed?: () => Promise<void>
  /**
   * Where nobody else holds the pieces: how many bytes of the answer have left this process. What has is given back at once;
   * V8 would let 64 MiB of it lie about.
   */
  readonly sent?: (() => number) | undefined
}

export interface Gathered {
  readonly pieces: readonly Uint8Array[]
  /** Whether the source has ended with them. */
  readonly done: boolean
}

/**
 * A body that is read as fast as its reader takes it, and no faster: at most one piece stands ready. When the reader
 * leaves or may not read on, the source is told so. An error of the source breaks the body off, so that a cut answer never
 * looks whole (P7).
 *
 * @param first what was read already
 */
export function bodyOf(
  first: readonly Uint8Array[],
  source: Source,
  { stillAllowed, sent }: BodyInit = {},
): ReadableStream<Uint8Array> {
  let ahead = first
  const leaving = new Leaving(sent)
  const letGo = async () => {
    await source.return?.()
  }
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    await setImmediate()
    await stillAllowed?.()
    const { pieces, done } = await gather(ahead, source)
    ahead = []
    leaving.check()
    if (pieces.length > 0) controller.enqueue(leaving.add(joined(pieces)))
    if (done) controller.close()
  }
  const pullOrEnd = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    pull(controller).catch(async (error) => {
      await letGo() // a stream that fails cancels nothing
      throw error
    })
  return new ReadableStream<Uint8Array>({ pull: pullOrEnd, cancel: letGo }, { highWaterMark: 0 })
}

/** Pieces on their way out. */
class Leaving {
  readonly #sent: (() => number) | undefined
  readonly #pieces: { readonly piece: Uint8Array; readonly end: number }[] = []
  #end = 0

  constructor(sent: (() => number) | undefined) {
    this.#sent = sent
  }

  add(piece: Uint8Array): Uint8Array {
    this.#end += piece.length
    if (this.#sent) this.#pieces.push({ piece, end: this.#end })
    return piece
  }

  /** Gives back what has surely left: with the longest head before it, too. */
  check(): void {
    const sent = this.#sent?.() ?? 0
    for (let next = this.#pieces[0]; next && next.end + HEAD_BYTES_MAX <= sent; next = this.#pieces[0]) {
      release(next.piece)
      this.#pieces.shift()
    }
  }
}

/** Pieces of the source until they are as many bytes as are sent at once, behind those that were read already. */
export async function gather(ahead: readonly Uint8Array[], source: Source): Promise<Gathered> {
  const pieces = ahead.filter((piece) => piece.length > 0)
  let length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  while (length < PIECE_BYTES) {
    const next = await source.next()
    if (next.done) return { pieces, done: true }
    if (next.value.length > 0) pieces.push(next.value)
    length += next.value.length
  }
  return { pieces, done: false }
}
