import type { BODY_ENCODINGS } from '../schema/index.ts'

/** A body in a smaller form. */
export interface Packed {
  readonly bytes: Uint8Array
  readonly encoding: (typeof BODY_ENCODINGS)[number]
}

/** Packs a body, or gives undefined where that would not pay. */
export type Compress = (bytes: Uint8Array) => Promise<Packed | undefined>

/** Below this many bytes the request's own overhead outweighs anything saved. */
const WORTHWHILE_BYTES = 4096
const WORTHWHILE_SHARE = 0.9

/** What `pack` makes of a body, where it saves more than a tenth. */
export const ifWorthwhile =
  (encoding: Packed['encoding'], pack: (bytes: Uint8Array) => Promise<Uint8Array>): Compress =>
  async (bytes) => {
    if (bytes.length < WORTHWHILE_BYTES) return undefined
    const packed = await pack(bytes)
    return packed.length < bytes.length * WORTHWHILE_SHARE ? { bytes: packed, encoding } : undefined
  }

/** What every platform has. */
export const gzip: Compress = ifWorthwhile('gzip', async (bytes) => {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
})
