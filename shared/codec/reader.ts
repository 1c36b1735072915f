import { RunfoldError } from '../schema/index.ts'
import { FrameAssembler, type TornReason } from './assemble.ts'
import { Doubts, type UnreadableFrame } from './doubts.ts'
import type { Frame, Place } from './frame.ts'
import type { HeldRecord } from './held.ts'
import { isJson } from './json/grammar.ts'
import { opensRecord } from './opening.ts'
import { checkPreamble, PREAMBLE_BYTES } from './preamble.ts'
import { readRecord } from './record.ts'
import { Unreadable } from './unreadable.ts'

/** The end of an archive that is no whole frame; reported once, last (LVR1.md 6e). */
export interface TornTail {
  readonly type: 'torn'
  readonly seq: number
  readonly offset: number
  /** To the end of the file. */
  readonly length: number
  readonly reason: TornReason | 'not_json'
}

/** What a lenient reader finds: records, frames that are none, and at most one torn tail, which comes last. */
export type ArchiveItem<Record = HeldRecord> =
  | { readonly type: 'record'; readonly frame: Frame; readonly record: Record }
  | UnreadableFrame
  | TornTail

/** What becomes of a payload: `readRecord`, `recordView`, `scanRecord`. Unreadable ones are thrown or returned. */
export type ReadPayload<Record> = (payload: Uint8Array) => Record | Unreadable

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * Everything in an archive, by rules a to e of LVR1.md 6: unreadable frames are stepped over and reported, a torn tail ends it.
 *
 * @throws bad_frames for a preamble that is refused.
 */
export function readArchive(bytes: Uint8Array): Generator<ArchiveItem, void, undefined>
export function readArchive<R>(
  bytes: Uint8Array,
  read: ReadPayload<R>,
): Generator<ArchiveItem<R>, void, undefined>
export function* readArchive(bytes: Uint8Array, read: ReadPayload<unknown> = readRecord) {
  checkPreamble(bytes.subarray(0, PREAMBLE_BYTES))
  yield* readFrames(bytes.subarray(PREAMBLE_BYTES), { offset: PREAMBLE_BYTES }, read)
}

/** The same from a place in the archive on; the bytes begin with a frame. */
export function* readFrames<R>(
  bytes: Uint8Array,
  place: Place,
  read: ReadPayload<R>,
): Generator<ArchiveItem<R>, void, undefined> {
  const reader = new LenientReader(read, new FrameAssembler(place, false))
  yield* reader.push(bytes)
  yield* reader.end()
}

/** The same as the bytes arrive, in memory of about the largest frame. */
export function readStream(chunks: Chunks): AsyncGenerator<ArchiveItem, void, undefined>
export function readStream<R>(
  chunks: Chunks,
  read: ReadPayload<R>,
): AsyncGenerator<ArchiveItem<R>, void, undefined>
export async function* readStream(chunks: Chunks, read: ReadPayload<unknown> = readRecord) {
  const reader = new LenientReader(read, new FrameAssembler({ offset: PREAMBLE_BYTES }, true))
  const preamble = new Uint8Array(PREAMBLE_BYTES)
  let received = 0
  for await (const chunk of chunks) {
    const piece = chunk.subarray(0, PREAMBLE_BYTES - received)
    preamble.set(piece, received)
    received += piece.length
    if (received < PREAMBLE_BYTES) continue
    if (piece.length > 0) checkPreamble(preamble)
    yield* reader.push(chunk.subarray(piece.length))
  }
  if (received < PREAMBLE_BYTES) checkPreamble(preamble.subarray(0, received))
  yield* reader.end()
}

/**
 * Every record of an archive that has nothing but records (LVR1.md 6f).
 *
 * @throws bad_frames at the first unreadable frame or torn tail, with its offset, frame number and reason.
 */
export function readStrict(
  bytes: Uint8Array,
): Generator<{ frame: Frame; record: HeldRecord }, void, undefined>
export function readStrict<R>(
  bytes: Uint8Array,
  read: ReadPayload<R>,
): Generator<{ frame: Frame; record: R }, void, undefined>
export function* readStrict(bytes: Uint8Array, read: ReadPayload<unknown> = readRecord) {
  for (const item of readArchive(bytes, read)) {
    if (item.type === 'record') {
      yield { frame: item.frame, record: item.record }
      continue
    }
    const { seq, offset } = item.type === 'torn' ? item : item.frame
    const what = item.type === 'torn' ? 'a torn tail' : 'an unreadable frame'
    throw new RunfoldError('bad_frames', `${what} at offset ${offset}, frame ${seq}: ${item.reason}`, {
      reason: item.reason,
      offset,
      frame: seq,
    })
  }
}

class LenientReader<R> {
  readonly #read: ReadPayload<R>
  readonly #frames: FrameAssembler
  readonly #doubts = new Doubts()

  constructor(read: ReadPayload<R>, frames: FrameAssembler) {
    this.#read = read
    this.#frames = frames
  }

  *push(chunk: Uint8Array): Generator<ArchiveItem<R>, void, undefined> {
    for (const frame of this.#frames.push(chunk)) {
      if (this.#doubts.first !== undefined) {
        if (!opensRecord(frame.payload)) {
          this.#doubts.add(frame, isJson(frame.payload) ? 'not_a_record' : 'not_json')
          continue
        }
        yield* this.#doubts.settle()
      }
      const item = this.#itemOf(frame)
      if (item !== undefined) yield item
    }
  }

  /** Undefined for a frame that has to wait for those behind it. */
  #itemOf(frame: Frame): ArchiveItem<R> | undefined {
    const record = this.#attempt(frame.payload)
    if (!(record instanceof Unreadable)) return { type: 'record', frame, record }
    const { seq, offset, length } = frame
    if (record.reason !== 'not_json') {
      return { type: 'unreadable', frame: { seq, offset, length }, reason: record.reason }
    }
    this.#doubts.add(frame, record.reason)
    return undefined
  }

  #attempt(payload: Uint8Array): R | Unreadable {
    try {
      return this.#read(payload)
    } catch (error) {
      if (error instanceof Unreadable) return error
      throw error
    }
  }

  /** The bytes end here. */
  *end(): Generator<ArchiveItem<R>, void, undefined> {
    const rest = this.#frames.rest()
    const doubt = this.#doubts.first
    const plausible = rest === undefined || (rest.reason === 'short_payload' && opensRecord(rest.opening))
    if (plausible) yield* this.#doubts.settle()
    if (rest === undefined) return
    const { seq, offset } = doubt === undefined || plausible ? rest : doubt
    const reason = doubt === undefined || plausible ? rest.reason : 'not_json'
    yield { type: 'torn', seq, offset, length: rest.offset + rest.length - offset, reason }
  }
}
