import { RunfoldError } from '../schema/index.ts'

// LVR1.md 1: a frame is a length and that many bytes of payload.
//
//   0         8           8 + length
//   ┌─────────┬───────────┐
//   │ u64be   │ payload   │   payload ≤ 256 MiB
//   └─────────┴───────────┘

/** The length that stands before every payload. */
export const PREFIX_BYTES = 8
/** The largest payload, itself allowed. */
export const MAX_FRAME_BYTES = 268_435_456

/** A frame's place in the archive. */
export interface FramePlace {
  /** 0-based number in the archive. */
  readonly seq: number
  /** Archive position of the length prefix. */
  readonly offset: number
  /** With the 8 bytes of the prefix. */
  readonly length: number
}

/** A whole frame; its payload may be a view of the bytes it was found in. */
export interface Frame extends FramePlace {
  readonly payload: Uint8Array
}

/** Where the bytes begin in the archive: the position and the number of their first frame. */
export interface Place {
  readonly offset?: number
  readonly seq?: number
}

/**
 * The length in the prefix at `at`, or undefined when it is over the limit. The high half is tested first: no Number
 * that could have lost bits is ever looked at (LVR1.md 6b).
 */
export function frameLength(bytes: Uint8Array, at: number): number | undefined {
  if (uint32(bytes, at) !== 0) return undefined
  const length = uint32(bytes, at + 4)
  return length > MAX_FRAME_BYTES ? undefined : length
}

/** Big-endian. A DataView made for it would cost more than all the rest of a short frame. */
function uint32(bytes: Uint8Array, at: number): number {
  const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as [
    number,
    number,
    number,
    number,
  ]
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
}

/**
 * Whole frames (their payloads are views of the bytes, not copies), without the preamble, that end exactly where the bytes end.
 *
 * @throws bad_frames with reason `torn_frame` or `frame_too_large`; `offset` is the archive position and `frame` the
 * index among these bytes of the first frame that is not whole.
 */
export function* walkFrames(bytes: Uint8Array, place: Place = {}): Generator<Frame, void, undefined> {
  const { offset: base = 0, seq: first = 0 } = place
  const refuse = (reason: string, detail: string, at: number, frame: number) =>
    new RunfoldError('bad_frames', `${detail} at offset ${base + at}`, { reason, offset: base + at, frame })
  for (let at = 0, frame = 0; at < bytes.length; frame++) {
    if (bytes.length - at < PREFIX_BYTES) throw refuse('torn_frame', 'a torn length prefix', at, frame)
    const size = frameLength(bytes, at)
    if (size === undefined) {
      throw refuse('frame_too_large', `a frame over ${MAX_FRAME_BYTES} bytes`, at, frame)
    }
    const length = PREFIX_BYTES + size
    if (bytes.length - at < length) {
      throw refuse('torn_frame', `a frame of ${length} bytes with only ${bytes.length - at} left`, at, frame)
    }
    const payload = new Uint8Array(bytes.buffer, bytes.byteOffset + at + PREFIX_BYTES, size)
    yield { seq: first + frame, offset: base + at, length, payload }
    at += length
  }
}

/** The frame of a payload. @throws bad_frames with reason `frame_too_large` */
export function encodeFrame(payload: Uint8Array): Uint8Array {
  if (payload.length > MAX_FRAME_BYTES) {
    throw new RunfoldError('bad_frames', `a payload of ${payload.length} bytes is over the limit`, {
      reason: 'frame_too_large',
      offset: 0,
      frame: 0,
    })
  }
  const frame = new Uint8Array(PREFIX_BYTES + payload.length)
  new DataView(frame.buffer).setUint32(4, payload.length)
  frame.set(payload, PREFIX_BYTES)
  return frame
}
