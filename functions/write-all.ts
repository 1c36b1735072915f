import type { FileHandle } from 'node:fs/promises'

/**
 * Writes all of these bytes. One `write` may take only the first of them and report no error, as on a disk that is nearly
 * full; only the next one says so.
 *
 * @param at position in the file; behind what was written last where it is left out
 */
export const writeAll = async (file: FileHandle, bytes: Uint8Array, at?: number): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    const place = at === undefined ? null : at + done
    done += (await file.write(bytes, done, bytes.length - done, place)).bytesWritten
  }
}
