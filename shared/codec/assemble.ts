import { RunfoldError } from '../schema/index.ts'
import {
  type Frame,
  type FramePlace,
  frameLength,
  MAX_FRAME_BYTES,
  type Place,
  PREFIX_BYTES,
} from './frame.ts'

/** Why a frame is not whole (LVR1.md 6e). */
export type TornReason = 'short_length' | 'short_payload' | 'frame_too_large'

/** What a payload's buffer begins with; it grows with the bytes that came, never by a length that was only declared. */
const FIRST_BUFFER_BYTES = 65_536

/** Puts frames together from chunks of any size, holding one unfinished frame at most. */
export class FrameAssembler {
  #seq: number
  /** Of the frame that is under way. */
  #offset: number
  #received = 0
  readonly #prefix = new Uint8Array(PREFIX_BYTES)
  /** The declared payload length, once its eight bytes came; Infinity when it is over the limit. */
  #size: number | undefined
  #payload = new Uint8Array(0)
  readonly #copy: boolean
  /** Where bytes that are known to be there end; a frame within gets memory of its length at once. */
  readonly #known: number

  /** With `copy` every payload has memory of its own, so that what is held of it does not keep a whole chunk alive. */
  constructor({ offset = 0, seq = 0 }: Place, copy: boolean, end = 0) {
    this.#offset = offset
    this.#seq = seq
    this.#copy = copy
    this.#known = end
  }

  /** The frames that end in this chunk. After a length over the limit there are no more. */
  *push(chunk: Uint8Array): Generator<Frame, void, undefined> {
    let at = 0
    while (at < chunk.length) {
      at += this.#takePrefix(chunk, at)
      const size = this.#size
      if (size === undefined) return
      if (size === Number.POSITIVE_INFINITY) {
        this.#received += chunk.length - at
        return
      }
      const start = at
      const had = this.#received - PREFIX_BYTES
      at += Math.min(size - had, chunk.length - at)
      this.#received += at - start
      const ended = had + at - start === size
      if (ended && had === 0) yield this.#end(this.#own(chunk.subarray(start, at)))
      else {
        this.#gather(chunk.subarray(start, at), had, size)
        if (ended) yield this.#end(this.#payload)
      }
    }
  }

  #takePrefix(chunk: Uint8Array, at: number): number {
    if (this.#received >= PREFIX_BYTES) return 0
    const piece = chunk.subarray(at, at + PREFIX_BYTES - this.#received)
    this.#prefix.set(piece, this.#received)
    this.#received += piece.length
    if (this.#received === PREFIX_BYTES) this.#size = frameLength(this.#prefix, 0) ?? Number.POSITIVE_INFINITY
    return piece.length
  }

  #own(payload: Uint8Array): Uint8Array {
    // Not `slice`: a Buffer's would share memory.
    return this.#copy ? new Uint8Array(payload) : payload
  }

  #gather(piece: Uint8Array, had: number, size: number): void {
    if (had + piece.length > this.#payload.length) {
      const isThere = this.#offset + PREFIX_BYTES + size <= this.#known
      const wanted = isThere
        ? size
        : Math.max(had + piece.length, 2 * this.#payload.length, FIRST_BUFFER_BYTES)
      const larger = new Uint8Array(Math.min(size, wanted))
      larger.set(this.#payload.subarray(0, had))
      this.#payload = larger
    }
    this.#payload.set(piece, had)
  }

  #end(payload: Uint8Array): Frame {
    const frame = { seq: this.#seq, offset: this.#offset, length: this.#received, payload }
    this.#seq++
    this.#offset += this.#received
    this.#received = 0
    this.#size = undefined
    this.#payload = new Uint8Array(0)
    return frame
  }

  /** The frame that is under way, if the bytes end here: its place, what came of its payload, and why it is torn. */
  rest(): (FramePlace & { readonly opening: Uint8Array; readonly reason: TornReason }) | undefined {
    if (this.#received === 0) return undefined
    const reason =
      this.#size === undefined
        ? 'short_length'
        : this.#size === Number.POSITIVE_INFINITY
          ? 'frame_too_large'
          : 'short_payload'
    const opening = this.#payload.subarray(0, Math.max(0, this.#received - PREFIX_BYTES))
    return { seq: this.#seq, offset: this.#offset, length: this.#received, opening, reason }
  }
}

/** What is worked on at once, however large the chunks are. */
const BATCH_BYTES = 524_288

/**
 * The frames of a checked archive as its bytes arrive, without its preamble: like `walkFrames`, in chunks of any size.
 *
 * @param end the archive position where the bytes end, if that is known: then a frame is held once, and never twice while
 * its memory grows
 * @throws bad_frames when the bytes do not end with a frame.
 */
export async function* streamFrames(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  place: Place = {},
  end?: number,
): AsyncGenerator<Frame, void, undefined> {
  for await (const frames of streamFrameBatches(chunks, place, { end })) yield* frames
}

/**
 * The same, several frames at a time: handing each one on by itself takes longer than to find it. Take all of a batch before
 * the next one is asked for.
 *
 * @param lent whether payloads may be part of the chunk they came in, which is another's as soon as the next batch is asked for
 */
export async function* streamFrameBatches(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  place: Place = {},
  { end, lent = false }: { readonly end?: number | undefined; readonly lent?: boolean } = {},
): AsyncGenerator<Iterable<Frame>, void, undefined> {
  const frames = new FrameAssembler(place, !lent, end)
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += BATCH_BYTES)
      yield frames.push(chunk.subarray(at, at + BATCH_BYTES))
  }
  const rest = frames.rest()
  if (rest === undefined) return
  const reason = rest.reason === 'frame_too_large' ? rest.reason : 'torn_frame'
  throw new RunfoldError(
    'bad_frames',
    reason === 'torn_frame'
      ? `a torn frame at offset ${rest.offset}`
      : `a frame over ${MAX_FRAME_BYTES} bytes at offset ${rest.offset}`,
    { reason, offset: rest.offset, frame: rest.seq - (place.seq ?? 0) },
  )
}
