import {
  checkPreamble,
  PREAMBLE_BYTES,
  readRecord,
  scanRecord,
  Unreadable,
  walkFrames,
} from '../codec/index.ts'
import type { RunCard } from '../fold/index.ts'
import { cardStep } from '../fold/index.ts'
import type { RecordKind } from '../schema/index.ts'
import { RunfoldError } from '../schema/index.ts'

/** What an append adds to the index, read from the batch alone. */
export interface Batch {
  readonly bytes: Uint8Array
  /** Archive positions, the end exclusive. */
  readonly offset: number
  readonly end: number
  readonly frames: number
  readonly points: number
  readonly unreadable: number
  /** What a card may change by, in order; the first readable record is always among them. */
  readonly telling: readonly Telling[]
}

/** A readable record of which a card may have to know. */
export interface Telling {
  readonly kind: RecordKind
  readonly payload: Uint8Array
}

/** Kinds that a card is made of (fold/card.ts). */
const TELLING: ReadonlySet<RecordKind> = new Set<RecordKind>([
  'Header',
  'Progress',
  'Checkpoint',
  'StatusChanged',
  'OwnershipChanged',
])

/** Read without a pause; a batch of empty frames has a million of them, and other requests wait meanwhile. */
const FRAMES_AT_ONCE = 2000

/**
 * Walks a batch for an append at `offset`. Every length must end exactly at a frame boundary; a payload that cannot be
 * read is counted, not refused (DESIGN.md, Append 1).
 *
 * @throws bad_frames with `offset` (archive position), `frame` (index in the batch) and `reason`.
 */
export async function readBatch(
  bytes: Uint8Array,
  offset: number,
  pause: () => Promise<void>,
): Promise<Batch> {
  const skip = offset === 0 ? preambleLength(bytes) : 0
  if (bytes.length === 0) throw refused('empty_batch', 'the batch is empty', offset)

  const tally = new Tally()
  const telling: Telling[] = []
  for (const { payload } of walkFrames(bytes.subarray(skip), { offset: offset + skip })) {
    const told = tally.add(payload)
    if (told) telling.push(told)
    if (tally.frames % FRAMES_AT_ONCE === 0) await pause()
  }
  const { frames, points, unreadable } = tally
  return { bytes, offset, end: offset + bytes.length, frames, points, unreadable, telling }
}

/** Counts the frames of one batch as they come. */
export class Tally {
  frames = 0
  points = 0
  unreadable = 0

  /** What a card may change by; the first readable record always may. */
  add(payload: Uint8Array): Telling | undefined {
    const scan = scanRecord(payload)
    const isFirstReadable = this.frames === this.unreadable
    this.frames++
    if (scan instanceof Unreadable) {
      this.unreadable++
      return undefined
    }
    const { kind, point } = scan
    if (point) this.points++
    return isFirstReadable || TELLING.has(kind) ? { kind, payload } : undefined
  }
}

/** What the first batch of an archive has before its frames. @throws bad_frames where it has something else. */
export function preambleLength(bytes: Uint8Array): number {
  if (bytes.length === 0) throw refused('empty_batch', 'the batch is empty', 0)
  // The length prefix of a frame begins with a zero byte, magic never does.
  if (bytes[0] === 0)
    throw refused('missing_preamble', 'the first batch begins with the preamble LVR1 0 1', 0)
  checkPreamble(bytes.subarray(0, PREAMBLE_BYTES))
  return PREAMBLE_BYTES
}

function refused(reason: string, detail: string, offset: number): RunfoldError {
  return new RunfoldError('bad_frames', detail, { reason, offset, frame: 0 })
}

/**
 * What a card can learn from a batch, by whether the run is headed: as long as that is open, from the first readable
 * record whatever it is.
 */
export function heard(telling: readonly Telling[], headed: boolean | null): readonly Telling[] {
  if (headed === null) return telling
  return headed ? telling.filter(({ kind }) => TELLING.has(kind)) : []
}

/** The card after these records. One that tells nothing but that it is no Header may be large, and is not decoded. */
export function cardAfter(card: RunCard, telling: readonly Telling[]): RunCard {
  for (const { kind, payload } of telling) {
    if (card.headed === false) return card
    if (TELLING.has(kind)) card = cardStep(card, readRecord(payload))
    else card = { ...card, headed: card.headed ?? false }
  }
  return card
}
