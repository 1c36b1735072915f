import { isLineOriented } from '#sessions'
import type { Shipped } from './file-state.ts'
import type { SourceFile } from './source-file.ts'

// Where the whole lines of a file end: behind the last LF (SESSIONS.md 5). A file without lines ends where its bytes do.

const LF = 0x0a
const STEP_BYTES = 65_536

/** The cursor when these bytes have been shipped too. */
export const cursorAfter = (path: string, from: Shipped, bytes: Uint8Array): number => {
  if (!isLineOriented(path)) return from.shipped + bytes.length
  const last = bytes.lastIndexOf(LF)
  return last < 0 ? from.cursor : from.shipped + last + 1
}

/** The cursor of a file of which the bytes before `end` have been shipped; reads back from there as far as it has to. */
export const cursorBefore = async (path: string, file: SourceFile, end: number): Promise<number> => {
  if (!isLineOriented(path)) return end
  for (let at = end; at > 0; ) {
    const start = Math.max(0, at - STEP_BYTES)
    const found = await lastLineEnd(file, start, at)
    if (found !== undefined) return found
    at = start
  }
  return 0
}

/** Behind the last LF in a range of the file; undefined where there is none. */
export const lastLineEnd = async (
  file: SourceFile,
  start: number,
  end: number,
): Promise<number | undefined> => {
  let found: number | undefined
  let at = start
  for await (const chunk of file.chunks(start, end)) {
    const last = chunk.lastIndexOf(LF)
    if (last >= 0) found = at + last + 1
    at += chunk.length
  }
  return found
}
