// Derived objects are kept gzipped: its checksum also tells a damaged one, and `zcat` shows it to people.

export const gzip = (bytes: Uint8Array): Promise<Uint8Array> => through(bytes, new CompressionStream('gzip'))

/** @throws TypeError where the bytes are no whole gzip file or their checksum is wrong. */
export const gunzip = (bytes: Uint8Array): Promise<Uint8Array> =>
  through(bytes, new DecompressionStream('gzip'))

async function through(
  bytes: Uint8Array,
  transform: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(transform)
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
