import { type Digest, extendDigest, PREAMBLE_BYTES, walkFrames } from '../../codec/index.ts'
import type { RunCard } from '../../fold/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { cardAfter, heard, preambleLength, Tally } from '../batch.ts'
import type { ByteRange, Objects } from '../ports.ts'
import { extended } from '../replay.ts'
import { stretchesOf } from '../uploads/frames.ts'
import type { Found } from './evidence.ts'

/** An archive up to a frame boundary, as a head tells of it. */
export interface Measured {
  readonly offset: number
  readonly hashed: Digest
  readonly frames: number
  readonly points: number
  readonly unreadable: number
  readonly card: RunCard
}

/**
 * The archive with the object's bytes behind it, read once in memory of its largest frame. Undefined where they are no
 * whole frames, or not what an upload announced: the object was refused then.
 */
export async function measured(
  objects: Objects,
  before: Measured,
  found: Found,
): Promise<Measured | undefined> {
  const read = reader(objects, found)
  const tally = new Tally()
  let { hashed, card } = before
  let own = extended(null, [])
  const hash = (bytes: Uint8Array) => {
    hashed = extended(hashed.state, [bytes])
    own = extended(own.state, [bytes])
  }
  try {
    const preamble =
      found.start === 0 ? await read({ start: 0, end: Math.min(PREAMBLE_BYTES, found.length) }) : NONE
    if (found.start === 0) preambleLength(preamble)
    hash(preamble)
    for await (const { bytes } of stretchesOf(read, { start: preamble.length, end: found.length })) {
      for (const { payload } of walkFrames(bytes)) {
        const told = tally.add(payload)
        if (told) card = cardAfter(card, heard([told], card.headed))
      }
      hash(bytes)
    }
  } catch (error) {
    if (isRunfoldError(error, 'bad_frames')) return undefined
    throw error
  }
  if (found.sha256 !== undefined && found.sha256 !== own.digest) return undefined
  return {
    offset: found.end,
    hashed,
    frames: before.frames + tally.frames,
    points: before.points + (card.headed ? tally.points : 0),
    unreadable: before.unreadable + tally.unreadable,
    card,
  }
}

const NONE = new Uint8Array(0)

/** The digest of the archive with the first bytes of the object behind it. */
export async function digestWithin(
  objects: Objects,
  before: Measured,
  found: Found,
  length: number,
): Promise<string> {
  const read = reader(objects, found)
  let hashed = before.hashed
  for (let at = 0; at < length; at += PIECE_BYTES) {
    hashed = extended(hashed.state, [await read({ start: at, end: Math.min(length, at + PIECE_BYTES) })])
  }
  return hashed.digest
}

const PIECE_BYTES = 4 * 1024 * 1024

const reader =
  (objects: Objects, { key, start, length }: Found) =>
  async (range: ByteRange): Promise<Uint8Array> => {
    const bytes = await objects.get(key, range)
    if (bytes) return bytes
    throw new RunfoldError('unavailable', `${key} went away while it was read`, { offset: start, length })
  }

/** The saved state if this program can go on from it. */
export function resumed(hash_state: string): Digest | undefined {
  return extendDigest(hash_state === '' ? null : hash_state, [])
}
