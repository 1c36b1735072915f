import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { PREAMBLE, readStream, scanRecord } from '#codec'
import { RunfoldError, type VerifyAnswer } from '#schema'
import { fileBytes } from './file-bytes.ts'

type Problem = VerifyAnswer['problems'][number]

export interface FileVerdict extends VerifyAnswer {
  /** Frames of the whole file that hold no readable record; they are kept and do no harm. */
  readonly unreadable_frames: number
}

/**
 * Reads every byte of an archive file: are the frames whole to its end, how many are there, and what is the SHA-256 of the
 * range (default: everything). `from` and `to` stand on frame boundaries.
 */
export const verifyBytes = async (path: string, from = 0, to?: number): Promise<FileVerdict> => {
  const { size } = await stat(path)
  const end = to ?? size
  if (from > end) throw new RunfoldError('bad_request', `the range begins at ${from}, behind its end ${end}`)
  if (end > size) throw new RunfoldError('range_not_satisfiable', `the file ends at ${size}`, { tail: size })

  const hash = createHash('sha256')
  const boundaries = new Set([0, PREAMBLE.length, size])
  const problems: Problem[] = []
  let frames = 0
  let unreadable_frames = 0
  for await (const item of readStream(hashed(fileBytes(path, 0, size), hash, from, end), scanRecord)) {
    if (item.type === 'torn') {
      const { offset, length, reason } = item
      problems.push({ offset, length, code: 'torn_tail', detail: `the last frame is not whole: ${reason}` })
      if (offset === from || offset === end) boundaries.add(offset)
      continue
    }
    const { offset, length } = item.frame
    if (item.type === 'unreadable') unreadable_frames++
    if (offset >= from && offset + length <= end) frames++
    for (const place of [offset, offset + length]) if (place === from || place === end) boundaries.add(place)
  }
  for (const place of [from, end]) {
    if (!boundaries.has(place)) throw new RunfoldError('bad_request', `${place} is no frame boundary`)
  }
  return {
    ok: problems.length === 0,
    bytes: end - from,
    frames,
    digest: hash.digest('hex'),
    problems,
    unreadable_frames,
  }
}

/** Passes chunks on, hashing those of their bytes that lie in from..end. */
async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
  from: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const chunk of chunks) {
    const part = chunk.subarray(Math.max(0, from - at), Math.max(0, end - at))
    hash.update(part)
    at += chunk.length
    yield chunk
  }
}
