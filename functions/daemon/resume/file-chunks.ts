import { open } from 'node:fs/promises'

const CHUNK_BYTES = 1024 * 1024

/** The bytes of a file from its beginning up to `end`; each chunk but the last is full. */
export async function* fileChunks(
  path: string,
  end = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void> {
  const file = await open(path)
  try {
    for (let at = 0; at < end; ) {
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, end - at))
      let filled = 0
      while (filled < chunk.length) {
        const { bytesRead } = await file.read(chunk, filled, chunk.length - filled, at + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      if (filled > 0) yield chunk.subarray(0, filled)
      if (filled < chunk.length) return
      at += filled
    }
  } finally {
    await file.close()
  }
}
