import { open } from 'node:fs/promises'
import { UsageError } from '../usage-error.ts'

const CHUNK_BYTES = 1024 * 1024

/** Bytes start..end (default: all) of a file, chunk by chunk. The end is settled when reading begins: the file may grow. */
export async function* fileBytes(path: string, start = 0, end?: number): AsyncGenerator<Uint8Array> {
  const file = await openFile(path)
  try {
    const stop = end ?? (await file.stat()).size
    for (let at = start; at < stop; ) {
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, stop - at))
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at)
      if (bytesRead === 0) throw new UsageError(`${path} became shorter while it was read`)
      yield chunk.subarray(0, bytesRead)
      at += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Bytes start..end of a file in one piece. */
export const fileSlice = async (path: string, start: number, end: number): Promise<Uint8Array> => {
  const whole = new Uint8Array(end - start)
  let at = 0
  for await (const chunk of fileBytes(path, start, end)) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

const openFile = async (path: string) => {
  try {
    const file = await open(path)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error })
  }
  throw new UsageError(`${path} is not a file`)
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
}

const reasonOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? (error instanceof Error ? error.message : String(error))
}
