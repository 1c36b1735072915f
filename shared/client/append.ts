import { PREAMBLE, PREFIX_BYTES } from '../codec/index.ts'
import { type AppendAnswer, type Capabilities, isRunfoldError, RunfoldError } from '../schema/index.ts'
import { cutBatch } from './batch.ts'
import type { Client } from './http.ts'
import { isTooLarge } from './retry.ts'
import { sendUpload } from './upload.ts'

/** The archive that is to be sent, as it stands on the sender's side. */
export interface AppendSource {
  /** Bytes that may be sent: 0..end, ending with a whole frame. */
  readonly end: number
  /** Archive bytes start..end, all of them. */
  read(start: number, end: number): Promise<Uint8Array>
  /** Lower-case hex SHA-256 of archive bytes 0..end; undefined where the sender cannot tell. */
  digest(end: number): Promise<string | undefined>
}

export interface SendOptions {
  readonly run: string
  readonly epoch: number
  /** Where the server's archive ends; its bytes up to here are known to be those of the source. */
  readonly tail: number
  readonly source: AppendSource
  readonly limits: Capabilities['limits']
  /** Whether the server offers direct uploads, for frames over the batch limit. @default false */
  readonly uploads?: boolean
  /** A batch is no larger, but for a frame that is. @default 4 MiB */
  readonly batchBytes?: number
  /** Told after each acknowledged batch. */
  readonly onAck?: (answer: AppendAnswer) => void
  /** Told how far a direct upload is, which is acknowledged only at its end. */
  readonly onSent?: (position: number) => void
  readonly signal?: AbortSignal
}

/** A batch of this size is near the best rate; a larger one only costs memory. */
const BATCH_BYTES = 4 * 1024 * 1024

/** Corrections in a row that move nothing; then two writers share the epoch, or the server contradicts itself. */
const CORRECTIONS_MAX = 5

/**
 * Sends the source from the server's tail to its end, in batches cut at frame boundaries, and gives the last answer
 * (undefined when there was nothing to send). Lost answers are repaired by sending again; `gap` and `overlap` by going on
 * from the server's tail, if the bytes before it are the source's; a batch that is too large for a gateway, or by now for the
 * server, by smaller ones. Rejects with `fenced`, `offset_conflict`, a frame that is `too_large`, and all else that sending again cannot mend; everything acknowledged until then is stored.
 */
export const sendArchive = async (
  client: Client,
  options: SendOptions,
): Promise<AppendAnswer | undefined> => {
  const { run, epoch, source } = options
  let offset = options.tail
  let corrections = 0
  let { batchBytes = BATCH_BYTES } = options
  let last: AppendAnswer | undefined
  while (offset < source.end) {
    options.signal?.throwIfAborted()
    const bytes = await nextBatch({ ...options, batchBytes }, offset)
    try {
      last =
        typeof bytes === 'number'
          ? await upload(client, options, offset, frameToUpload(options, offset, bytes))
          : await client.append(run, { offset, epoch, bytes })
      offset = last.tail
      corrections = 0
      options.onAck?.(last)
    } catch (error) {
      if (isTooLarge(error) && typeof bytes !== 'number') {
        batchBytes = await smallerBatch(options, offset, bytes.length, error)
        continue
      }
      offset = await correctedOffset(error, source)
      if (++corrections > CORRECTIONS_MAX) throw error
    }
  }
  return last
}

/**
 * A batch from `offset` on: as many whole frames as fit, or one frame alone up to the server's limit; the length of one
 * that is over it (with the preamble at offset 0).
 */
const nextBatch = async (
  { source, limits, batchBytes }: SendOptions & { readonly batchBytes: number },
  offset: number,
): Promise<Uint8Array | number> => {
  const left = source.end - offset
  const bytes = await source.read(offset, offset + Math.min(batchBytes, limits.max_batch_bytes, left))
  const preamble = offset === 0 ? PREAMBLE.length : 0
  const { whole, next } = cutBatch(bytes, preamble)
  if (whole > preamble || (whole > 0 && next === undefined)) return bytes.subarray(0, whole)
  const needed = whole + (next ?? 0)
  if (next === undefined || needed > left) throw tornSource(offset + whole)
  if (needed > limits.max_batch_bytes) return needed
  return source.read(offset, offset + needed)
}

/**
 * How large batches are to be after one of `length` bytes was refused: a gateway may take less than the server tells, and the server
 * itself less than it did. Rethrows where that batch was one frame.
 */
const smallerBatch = async (
  options: SendOptions,
  offset: number,
  length: number,
  error: unknown,
): Promise<number> => {
  const batchBytes = Math.floor(length / 2)
  const next = await nextBatch({ ...options, batchBytes }, offset)
  if (typeof next === 'number' || next.length >= length) throw error
  return batchBytes
}

const tornSource = (offset: number) =>
  new RunfoldError('bad_frames', 'what is to be sent does not end with a whole frame', {
    offset,
    reason: 'torn_frame',
  })

/** The length again, where such a frame can be sent at all. */
const frameToUpload = ({ limits, uploads }: SendOptions, offset: number, length: number): number => {
  const preamble = offset === 0 ? PREAMBLE.length : 0
  const frame = length - preamble
  if (uploads && frame <= limits.max_frame_bytes + PREFIX_BYTES) return length
  throw frameOverLimit(offset + preamble, frame, limits)
}

const upload = (client: Client, options: SendOptions, offset: number, length: number) => {
  const { run, epoch, source, onSent, signal } = options
  return sendUpload(client, run, {
    epoch,
    offset,
    end: offset + length,
    read: (start, end) => source.read(start, end),
    ...(onSent && { onSent }),
    ...(signal && { signal }),
  })
}

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
  const own = await source.digest(tail)
  if (own === digest) return tail
  if (own === undefined) {
    // For an overlap the server itself has compared what it has with what was sent.
    if (error.code === 'overlap') return tail
    throw error
  }
  const text = `the server's first ${tail} bytes are not those of this archive`
  throw new RunfoldError('offset_conflict', text, error.facts, { cause: error })
}
