import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeAll } from '../../write-all.ts'

/** Run folders hold secrets in clear (P10): only their owner may read them. */
const MODE = 0o600

/** Writes a file that is there whole or as it was before, and stays so after a power cut. */
export const writeDurably = async (path: string, bytes: Uint8Array | string): Promise<void> => {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', MODE)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await moveDurably(temporary, path)
}

/** Gives a file another name in the same file system, replacing what had it. */
export const moveDurably = async (from: string, to: string): Promise<void> => {
  await rename(from, to)
  await syncFolder(dirname(to))
}

/** Puts bytes behind the first `end` bytes of a file, and nothing behind them. */
export const writeBehind = async (path: string, end: number, bytes: Uint8Array): Promise<void> => {
  const file = await open(path, 'r+')
  try {
    await file.truncate(end)
    await writeAll(file, bytes, end)
    await file.sync()
  } finally {
    await file.close()
  }
}

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
