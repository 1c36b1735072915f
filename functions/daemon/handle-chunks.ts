import type { FileHandle } from 'node:fs/promises'

const CHUNK_BYTES = 1024 * 1024

/** Bytes start..end of an open file, in pieces of at most 1 MiB; fewer where the file ends before, which is the caller's to judge. */
export async function* handleChunks(
  handle: FileHandle,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void> {
  for (let at = start; at < end; ) {
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, end - at))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
    at += bytesRead
  }
}

/** Chunks of `length` bytes altogether as one piece of memory; beside it only one chunk is held. */
export async function gathered(length: number, chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const whole = new Uint8Array(length)
  let at = 0
  for await (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
