import { extendDigest, PREAMBLE_BYTES, walkFrames } from '../../codec/index.ts'
import type { RunCard } from '../../fold/index.ts'
import type { RunKey } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { cardAfter, heard, preambleLength, Tally } from '../batch.ts'
import { currentCard } from '../card-row.ts'
import type { Gain } from '../commit.ts'
import { type StoreParts, viewOf } from '../parts.ts'
import type { ByteRange, Head, UploadRecord } from '../ports.ts'
import { release } from '../release.ts'
import { digestUpTo, extended } from '../replay.ts'
import { type Stretch, stretchesOf } from './frames.ts'

/** What was found in the bytes of an upload, seen from an archive that ended at `tail`. */
export interface Checked {
  readonly tail: number
  /** Meant for an archive that ends where the upload begins. */
  readonly gain: Gain
  /** Digest of the upload's bytes up to the tail, if a frame ends there. */
  readonly digestToTail: string | undefined
}

/**
 * Reads an upload's object once, in memory of its largest frame: whole frames, the announced digest, and everything that
 * the index wants to know.
 *
 * @throws bad_frames; not_found where the sweep was quicker.
 */
export async function checkUpload(
  parts: StoreParts,
  run: RunKey,
  head: Head,
  upload: UploadRecord,
): Promise<Checked> {
  const { offset, length, sha256 } = upload
  const check = new Check(parts, run, head, offset)
  const read = (range: ByteRange) => readUpload(parts, upload, range)
  await check.begin()
  const preamble = await preambleOf(read, upload)
  check.hash({ start: 0, bytes: preamble })
  for await (const stretch of stretchesOf(read, { start: preamble.length, end: length })) {
    await check.walk(stretch)
    check.hash(stretch)
    release(stretch.bytes)
  }
  if (check.digest !== sha256) {
    const detail = 'the bytes that were stored have another SHA-256 than the one announced'
    throw new RunfoldError('bad_frames', detail, { reason: 'wrong_digest', offset, frame: 0 })
  }
  return check.result()
}

async function readUpload(
  { ports }: StoreParts,
  { key, length }: UploadRecord,
  range: ByteRange,
): Promise<Uint8Array> {
  const bytes = await ports.objects.get(key, { start: range.start, end: Math.min(length, range.end) })
  if (bytes) return bytes
  throw new RunfoldError('not_found', 'the upload was given up and removed meanwhile')
}

async function preambleOf(read: (range: ByteRange) => Promise<Uint8Array>, { offset }: UploadRecord) {
  if (offset > 0) return new Uint8Array(0)
  const begin = await read({ start: 0, end: PREAMBLE_BYTES })
  return begin.subarray(0, preambleLength(begin))
}

class Check {
  readonly #parts: StoreParts
  readonly #run: RunKey
  readonly #head: Head
  readonly #offset: number
  readonly #tally = new Tally()
  /** Saved SHA-256 of the upload so far, and of the archive with it. */
  #own = extended(null, [])
  #archive = extended(null, [])
  #toTail: string | undefined
  #isBoundary = false
  #card: { before: RunCard; after: RunCard } | undefined

  constructor(parts: StoreParts, run: RunKey, head: Head, offset: number) {
    this.#parts = parts
    this.#run = run
    this.#head = head
    this.#offset = offset
  }

  get digest(): string {
    return this.#own.digest
  }

  /** The archive's digest is continued from its saved state; one of another version is made anew. */
  async begin(): Promise<void> {
    const { hash_state, tail } = this.#head
    const saved = extendDigest(hash_state === '' ? null : hash_state, [])
    this.#archive = saved ?? (await digestUpTo(viewOf(this.#parts.ports, this.#run, this.#head), tail, []))
  }

  hash({ start, bytes }: Stretch): void {
    const tail = this.#head.tail - this.#offset - start
    if (0 < tail && tail <= bytes.length) {
      this.#isBoundary ||= start === 0 && tail === bytes.length // behind the preamble
      this.#toTail = extended(this.#own.state, [bytes.subarray(0, tail)]).digest
    }
    this.#own = extended(this.#own.state, [bytes])
    if (this.#head.tail === this.#offset) this.#archive = extended(this.#archive.state, [bytes])
  }

  async walk({ start, bytes }: Stretch): Promise<void> {
    const { tail, headed } = this.#head
    const seen = this.#tally.frames
    try {
      for (const { offset, length, payload } of walkFrames(bytes, { offset: this.#offset + start })) {
        if (offset + length === tail) this.#isBoundary = true
        const told = this.#tally.add(payload)
        const telling = heard(told ? [told] : [], headed)
        if (telling.length === 0) continue
        const before = this.#card?.before ?? (await currentCard(this.#parts.ports, this.#run, this.#head))
        this.#card = { before, after: cardAfter(this.#card?.after ?? before, telling) }
      }
    } catch (error) {
      if (!isRunfoldError(error, 'bad_frames')) throw error
      throw new RunfoldError('bad_frames', error.message, {
        ...error.facts,
        frame: seen + Number(error.facts.frame),
      })
    }
  }

  result(): Checked {
    const { frames, points, unreadable } = this.#tally
    const { digest, state } = this.#archive
    const gain = {
      frames,
      points,
      unreadable,
      digest,
      hash_state: state,
      ...(this.#card && { card: this.#card }),
    }
    return { tail: this.#head.tail, gain, digestToTail: this.#isBoundary ? this.#toTail : undefined }
  }
}
