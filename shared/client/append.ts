import { PREAMBLE } from '../codec/index.ts'
import { type AppendAnswer, type Capabilities, isRunfoldError, RunfoldError } from '../schema/index.ts'
import { cutBatch } from './batch.ts'
import type { Client } from './http.ts'

/** The archive that is to be sent, as it stands on the sender's side. */
export interface AppendSource {
  /** Bytes that may be sent: 0..end, ending with a whole frame. */
  readonly end: number
  /** Archive bytes start..end, all of them. */
  read(start: number, end: number): Promise<Uint8Array>
  /** Lower-case hex SHA-256 of archive bytes 0..end. */
  digest(end: number): Promise<string>
}

export interface SendOptions {
  readonly run: string
  readonly epoch: number
  /** Where the server's archive ends; its bytes up to here are known to be those of the source. */
  readonly tail: number
  readonly source: AppendSource
  readonly limits: Capabilities['limits']
  /** Told after each acknowledged batch. */
  readonly onAck?: (answer: AppendAnswer) => void
  readonly signal?: AbortSignal
}

/** A batch of this size is near the best rate; a larger one only costs memory. */
const BATCH_BYTES = 4 * 1024 * 1024

/** Corrections in a row that move nothing; then two writers share the epoch, or the server contradicts itself. */
const CORRECTIONS_MAX = 5

/**
 * Sends the source from the server's tail to its end, in batches cut at frame boundaries, and gives the last answer
 * (undefined when there was nothing to send). Lost answers are repaired by sending again; `gap` and `overlap` by going on
 * from the server's tail, if the bytes before it are the source's. Rejects with `fenced`, `offset_conflict`, `too_large`
 * and all else that sending again cannot mend; everything acknowledged until then is stored.
 */
export const sendArchive = async (
  client: Client,
  options: SendOptions,
): Promise<AppendAnswer | undefined> => {
  const { run, epoch, source } = options
  let offset = options.tail
  let corrections = 0
  let last: AppendAnswer | undefined
  while (offset < source.end) {
    options.signal?.throwIfAborted()
    const bytes = await nextBatch(source, offset, options.limits)
    try {
      last = await client.append(run, { offset, epoch, bytes })
      offset = last.tail
      corrections = 0
      options.onAck?.(last)
    } catch (error) {
      offset = await correctedOffset(error, source)
      if (++corrections > CORRECTIONS_MAX) throw error
    }
  }
  return last
}

/** A batch from `offset` on: as many whole frames as fit, or one frame alone up to the server's limit. */
const nextBatch = async (
  source: AppendSource,
  offset: number,
  limits: Capabilities['limits'],
): Promise<Uint8Array> => {
  const left = source.end - offset
  const bytes = await source.read(offset, offset + Math.min(BATCH_BYTES, limits.max_batch_bytes, left))
  const preamble = offset === 0 ? PREAMBLE.length : 0
  const { whole, next } = cutBatch(bytes, preamble)
  if (whole > preamble || (whole > 0 && next === undefined)) return bytes.subarray(0, whole)
  const needed = whole + (next ?? 0)
  if (next === undefined || needed > left) throw tornSource(offset + whole)
  if (needed > limits.max_batch_bytes) throw frameOverLimit(offset + whole, next, limits)
  return source.read(offset, offset + needed)
}

const tornSource = (offset: number) =>
  new RunfoldError('bad_frames', 'what is to be sent does not end with a whole frame', {
    offset,
    reason: 'torn_frame',
  })

const frameOverLimit = (offset: number, length: number, limits: Capabilities['limits']) => {
  const { max_batch_bytes, max_frame_bytes } = limits
  const facts = { offset, length, max_batch_bytes, max_frame_bytes }
  return new RunfoldError('too_large', `a frame of ${length} bytes is over the batch limit`, facts)
}

/** Where to go on after a refusal that tells the server's tail; rethrows every other one. */
const correctedOffset = async (error: unknown, source: AppendSource): Promise<number> => {
  if (!isRunfoldError(error, 'gap', 'overlap')) throw error
  const { tail, digest } = error.facts
  if (typeof tail !== 'number' || tail > source.end) throw error
  if ((await source.digest(tail)) === digest) return tail
  const text = `the server's first ${tail} bytes are not those of this archive`
  throw new RunfoldError('offset_conflict', text, error.facts, { cause: error })
}
