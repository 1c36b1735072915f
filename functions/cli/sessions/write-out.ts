import { open, rename, rm } from 'node:fs/promises'
import { writeAll } from '../../write-all.ts'
import type { Session } from '../session.ts'

/** Writes pieces to the file at an absolute path, which is there only when it is whole, or to standard output. */
export const writeOut = async (
  { out }: Session,
  path: string | undefined,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> => {
  if (path === undefined) {
    const decoder = new TextDecoder()
    for await (const piece of pieces) {
      const bytes = Buffer.from(piece)
      if (out.isTerminal) await out.text(decoder.decode(bytes, { stream: true }))
      else await out.bytes(bytes)
    }
    return
  }
  const unfinished = `${path}.${process.pid}.tmp`
  const handle = await open(unfinished, 'w', 0o600)
  try {
    for await (const piece of pieces) await writeAll(handle, Buffer.from(piece))
    await handle.sync()
    await rename(unfinished, path)
  } finally {
    await handle.close()
    await rm(unfinished, { force: true })
  }
}
