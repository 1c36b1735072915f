/**
 * Gives memory back at once that nobody looks at any more. The collector counts a buffer of many megabytes as a few bytes of
 * its own heap, and comes when several of them lie about. Bytes that are a part of something larger are left alone.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** The same chunks, each released when the next one is asked for: for whoever keeps nothing of them. */
export async function* released(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk
    release(chunk)
  }
}
