// Derived objects are kept gzipped: its checksum also tells a damaged one, and `zcat` shows it to people.

/** Chunks are taken as they are wanted, so that what is packed need never be in memory as a whole. */
export const gzip = (chunks: Iterable<Uint8Array>): Promise<Uint8Array> =>
  through(chunks, new CompressionStream('gzip'))

/** @throws TypeError where the bytes are no whole gzip file or their checksum is wrong. */
export const gunzip = (bytes: Uint8Array): Promise<Uint8Array> =>
  through([bytes], new DecompressionStream('gzip'))

async function through(
  chunks: Iterable<Uint8Array>,
  transform: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const source = ReadableStream.from(chunks as Iterable<Uint8Array<ArrayBuffer>>)
  const stream = source.pipeThrough(transform)
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
