import { frameLength, PREFIX_BYTES } from '../../codec/index.ts'
import type { ByteRange } from '../ports.ts'
import { release } from '../release.ts'

/** Read at once; a frame that is longer is read whole. */
const STRETCH_BYTES = 4 * 1024 * 1024

/** Bytes of the batch, and where they begin in it. */
export interface Stretch {
  readonly start: number
  readonly bytes: Uint8Array
}

/**
 * The batch from `start` to `end` in stretches of whole frames: some megabytes of small ones, or a single larger one, which
 * is read into memory of exactly its length. Where no whole frame follows, the last stretch begins with what is none, for
 * `walkFrames` to say why.
 */
export async function* stretchesOf(
  read: (range: ByteRange) => Promise<Uint8Array>,
  { start, end }: ByteRange,
): AsyncGenerator<Stretch> {
  for (let at = start; at < end; ) {
    const piece = await read({ start: at, end: Math.min(end, at + STRETCH_BYTES) })
    const whole = wholeFrames(piece)
    if (whole > 0) {
      yield { start: at, bytes: piece.subarray(0, whole) }
      at += whole
      continue
    }
    const length = lengthOf(piece, 0)
    if (length === undefined || at + length > end) {
      yield { start: at, bytes: piece }
      return
    }
    release(piece)
    yield { start: at, bytes: await read({ start: at, end: at + length }) }
    at += length
  }
}

function wholeFrames(piece: Uint8Array): number {
  let whole = 0
  for (;;) {
    const length = lengthOf(piece, whole)
    if (length === undefined || whole + length > piece.length) return whole
    whole += length
  }
}

/** Undefined for a prefix that is cut or names an illegal length. */
function lengthOf(piece: Uint8Array, at: number): number | undefined {
  if (piece.length - at < PREFIX_BYTES) return undefined
  const size = frameLength(piece, at)
  return size === undefined ? undefined : PREFIX_BYTES + size
}
