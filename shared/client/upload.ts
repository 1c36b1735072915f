import { extendDigest, loadDigest } from '../codec/index.ts'
import { type AppendAnswer, RunfoldError, type UploadAnswer } from '../schema/index.ts'
import type { Client } from './http.ts'

/** A batch that goes straight to the storage, wherever its bytes are on the sender's side. */
export interface UploadBatch {
  readonly epoch: number
  /** Archive positions, the end exclusive; whole frames. */
  readonly offset: number
  readonly end: number
  /** Archive bytes start..end, all of them. */
  read(start: number, end: number): Promise<Uint8Array>
  /** Told how far the archive has been sent. */
  readonly onSent?: (position: number) => void
  readonly signal?: AbortSignal
}

/** Parts on their way at once; with the size of a part it bounds the memory. */
const WIDTH = 3
const HASH_BYTES = 4 * 1024 * 1024
/** The parts say nothing of the sender to the server, so the lease is renewed meanwhile. */
const RENEW_EVERY_MS = 3000

/**
 * Sends a batch of any size in parts (API.md, "Large batches and frames"). May be repeated like an append; on any failure
 * the upload is given up, and the archive is as before unless the last answer alone was lost.
 */
export const sendUpload = async (client: Client, run: string, batch: UploadBatch): Promise<AppendAnswer> => {
  const { epoch, offset, end } = batch
  const opened = await client.openUpload(run, {
    epoch,
    offset,
    length: end - offset,
    sha256: await digestOfBatch(batch),
  })
  try {
    const parts = await sendParts(client, run, batch, opened)
    return await client.completeUpload(run, opened.upload_id, { parts })
  } catch (error) {
    // What cannot be given up now expires by itself, and the error that led here tells more.
    if (!batch.signal?.aborted) await client.abortUpload(run, opened.upload_id).catch(() => undefined)
    throw error
  }
}

const sendParts = async (client: Client, run: string, batch: UploadBatch, opened: UploadAnswer) => {
  const { epoch, offset, read, signal } = batch
  const waiting = [...opened.parts]
  const stored: { part_number: number; etag: string }[] = []
  const stop = new AbortController()
  const keepLease = renewer(client, run, epoch)
  let sent = offset
  const worker = async () => {
    for (let part = waiting.shift(); part && !stop.signal.aborted; part = waiting.shift()) {
      signal?.throwIfAborted()
      await keepLease()
      const { part_number, url, start, end } = part
      const etag = await client.putPart(url, await read(offset + start, offset + end))
      stored.push({ part_number, etag })
      sent += end - start
      batch.onSent?.(sent)
    }
  }
  const workers = Array.from({ length: WIDTH }, () => worker().catch((error) => fail(stop, error)))
  await Promise.all(workers)
  stop.signal.throwIfAborted()
  return stored.sort((a, b) => a.part_number - b.part_number)
}

/** The first failure counts; the other workers end after their part. */
const fail = (stop: AbortController, error: unknown): void => stop.abort(error)

const renewer = (client: Client, run: string, epoch: number) => {
  let renewed = performance.now()
  return async () => {
    if (performance.now() - renewed < RENEW_EVERY_MS) return
    renewed = performance.now()
    await client.renew(run, { epoch })
  }
}

const digestOfBatch = async ({ offset, end, read }: UploadBatch): Promise<string> => {
  await loadDigest()
  let saved = extendDigest(null, [])
  for (let at = offset; at < end && saved; at += HASH_BYTES) {
    saved = extendDigest(saved.state, [await read(at, Math.min(end, at + HASH_BYTES))])
  }
  if (saved) return saved.digest
  throw new RunfoldError('internal', 'a hash state made here is of an unknown version')
}
