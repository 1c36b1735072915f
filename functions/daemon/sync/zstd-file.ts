import type { FileHandle } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import type { Counters } from './counters.ts'
import { LeftOut } from './left-out.ts'

/** What a packed rollout may unpack to; more is a bomb. */
const MOST_BYTES = 8 * 2 ** 30
const CHUNK_BYTES = 1 << 18

/** @throws LeftOut when it is damaged or unpacks to more than 8 GiB */
export const unpackedSize = async (handle: FileHandle, counters: Counters): Promise<number> => {
  let size = 0
  for await (const piece of unpacked(handle, counters)) size += piece.length
  return size
}

/** A range of what the file unpacks to; everything before it is unpacked too. */
export async function* unpackedBytes(
  handle: FileHandle,
  start: number,
  end: number,
  counters: Counters,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const piece of unpacked(handle, counters)) {
    const wanted = piece.subarray(Math.max(0, start - at), Math.max(0, end - at))
    at += piece.length
    if (wanted.length > 0) yield wanted
    if (at >= end) return
  }
}

/** RFC 8878, 3: one or more frames in a row. zlib may stop behind any of them without a word, so go on until all is eaten. */
async function* unpacked(handle: FileHandle, counters: Counters): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    const { size: end } = await handle.stat()
    for (let at = 0; at === 0 || at < end; ) {
      const unpacking = createZstdDecompress()
      pipeline(Readable.from(packed(handle, at, counters)), unpacking, () => undefined) // it ends what is read below
      for await (const piece of unpacking as AsyncIterable<Uint8Array>) {
        size += piece.length
        if (size > MOST_BYTES) throw new LeftOut(`it unpacks to more than ${MOST_BYTES} bytes`)
        yield piece
      }
      at += unpacking.bytesWritten
    }
  } catch (error) {
    if (error instanceof LeftOut || !(error as NodeJS.ErrnoException).code?.startsWith('ZSTD')) throw error
    throw new LeftOut('it is no readable zstd file')
  }
}

async function* packed(handle: FileHandle, start: number, counters: Counters): AsyncGenerator<Uint8Array> {
  for (let at = start; ; ) {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, at)
    if (bytesRead === 0) return
    counters.bytes_read += bytesRead
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
