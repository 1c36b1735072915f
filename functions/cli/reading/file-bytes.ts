import { open } from 'node:fs/promises'
import { gathered, handleChunks } from '../../daemon/handle-chunks.ts'
import { UsageError } from '../usage-error.ts'

/** Bytes start..end (default: all) of a file, chunk by chunk. The end is settled when reading begins: the file may grow. */
export async function* fileBytes(path: string, start = 0, end?: number): AsyncGenerator<Uint8Array> {
  const file = await openFile(path)
  try {
    const stop = end ?? (await file.stat()).size
    let at = start
    for await (const chunk of handleChunks(file, start, stop)) {
      yield chunk
      at += chunk.length
    }
    if (at < stop) throw new UsageError(`${path} became shorter while it was read`)
  } finally {
    await file.close()
  }
}

/** Bytes start..end of a file in one piece. */
export const fileSlice = (path: string, start: number, end: number): Promise<Uint8Array> =>
  gathered(end - start, fileBytes(path, start, end))

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
