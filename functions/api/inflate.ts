import { promisify } from 'node:util'
import {
  constants,
  gunzip as gunzipCallback,
  type ZlibOptions,
  zstdDecompress as zstdCallback,
} from 'node:zlib'
import { joined } from '#codec'
import { RunfoldError } from '#schema'

/** With `info` the engine is returned too; it knows how many bytes it has eaten. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}
type Inflater = (bytes: Uint8Array, options: object) => Promise<Inflated>

const gunzip = promisify(gunzipCallback) as unknown as Inflater
const zstdDecompress = promisify(zstdCallback) as unknown as Inflater

/** Windows up to 32 MiB: what a frame of a whole batch may ask for, and no more memory than that. */
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 25 } }

/** Thrown where the decoded bytes would pass the limit; the caller knows which limit to name. */
export class Inflation extends Error {}

/**
 * Undoes a Content-Encoding. Output stops at `maxBytes`, so a bomb costs no more than a legal body.
 *
 * @throws Inflation over the limit, bad_request for bytes that are not of the encoding
 */
export async function inflate(encoding: 'gzip' | 'zstd', bytes: Uint8Array, maxBytes: number) {
  try {
    if (encoding === 'gzip')
      return await whole(gunzip, bytes, { maxOutputLength: maxBytes } satisfies ZlibOptions)
    return await zstdFrames(bytes, maxBytes)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw new Inflation()
    if (error instanceof Inflation || error instanceof RunfoldError) throw error
    throw broken(encoding, error)
  }
}

async function whole(inflater: Inflater, bytes: Uint8Array, options: object): Promise<Uint8Array> {
  const { buffer, engine } = await inflater(bytes, { ...options, info: true })
  if (engine.bytesWritten !== bytes.length) throw new Error('there are bytes behind the end')
  return plain(buffer)
}

/** A Buffer's `slice` shares its bytes and a Uint8Array's copies them; what is handed on is the latter. */
const plain = ({ buffer, byteOffset, length }: Uint8Array) => new Uint8Array(buffer, byteOffset, length)

/** RFC 8878, 3: a body is one or more frames in a row. zlib stops after the first without a word, so go on until all is eaten. */
async function zstdFrames(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  if (bytes.length === 0) throw new Error('there is no frame')
  for (let at = 0; at < bytes.length; ) {
    const options = { ...ZSTD, maxOutputLength: Math.max(1, maxBytes - length), info: true }
    const { buffer, engine } = await zstdDecompress(bytes.subarray(at), options)
    if (engine.bytesWritten === 0) throw new Error('there are bytes behind the end')
    length += buffer.length
    if (length > maxBytes) throw new Inflation()
    parts.push(plain(buffer))
    at += engine.bytesWritten
  }
  return joined(parts)
}

const broken = (encoding: string, cause: unknown) =>
  new RunfoldError(
    'bad_request',
    `the body is not whole ${encoding}`,
    { issues: [{ path: '', message: `the body is not whole ${encoding}` }] },
    { cause },
  )
