import { open } from 'node:fs/promises'
import type { Counters } from './counters.ts'
import { READ, type Source } from './source-file.ts'
import { unpackedBytes } from './zstd-file.ts'

/** What a file begins with, unpacked, at most so many bytes; undefined of what cannot be read or is no regular file. */
export const firstBytes = async (
  { source, isPacked }: Source,
  most: number,
  counters: Counters,
): Promise<Buffer | undefined> => {
  const handle = await open(source, READ).catch(() => undefined)
  if (!handle) return undefined
  try {
    if (!(await handle.stat()).isFile()) return undefined
    if (isPacked) {
      const pieces: Uint8Array[] = []
      for await (const piece of unpackedBytes(handle, 0, most, counters)) pieces.push(piece)
      return Buffer.concat(pieces)
    }
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(most), 0, most, 0)
    counters.bytes_read += bytesRead
    return buffer.subarray(0, bytesRead)
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}
