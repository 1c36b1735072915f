/** Below this many bytes the request's own overhead outweighs anything saved. */
const WORTHWHILE_BYTES = 4096

/** The gzipped bytes, or undefined where sending them would save less than a tenth. */
export const gzipIfWorthwhile = async (bytes: Uint8Array): Promise<Uint8Array | undefined> => {
  if (bytes.length < WORTHWHILE_BYTES) return
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new CompressionStream('gzip'))
  const packed = new Uint8Array(await new Response(stream).arrayBuffer())
  return packed.length < bytes.length * 0.9 ? packed : undefined
}
