import { basename, dirname } from 'node:path'
import { PREAMBLE, readStream, scanRecord } from '#codec'
import { runId } from '#schema'
import { fileBytes } from '../reading/file-bytes.ts'

export interface TornTail {
  readonly offset: number
  readonly length: number
  readonly reason: string
}

export interface Survey {
  /** Archive bytes 0..end are the preamble and whole frames. */
  readonly end: number
  /** What follows them, if anything (LVR1.md 6e). */
  readonly torn: TornTail | undefined
}

/**
 * Finds the end of the last whole frame, reading from `start`, a frame boundary (or 0). Frames that only look whole behind
 * a tear are not counted (LVR1.md 6d): what is appended to an archive can never be taken back.
 *
 * @throws bad_frames when the file does not begin as an archive does.
 */
export const survey = async (path: string, start: number, size: number): Promise<Survey> => {
  let end = Math.max(start, PREAMBLE.length)
  const shift = Math.max(0, start - PREAMBLE.length)
  for await (const item of readStream(fromBoundary(path, start, size), scanRecord)) {
    if (item.type === 'torn') {
      const { offset, length, reason } = item
      return { end: offset + shift, torn: { offset: offset + shift, length, reason } }
    }
    end = item.frame.offset + shift + item.frame.length
  }
  return { end, torn: undefined }
}

/** The reader wants a preamble first; in the middle of an archive it gets one that is not there. */
async function* fromBoundary(path: string, start: number, size: number): AsyncGenerator<Uint8Array> {
  if (start > 0) yield PREAMBLE
  yield* fileBytes(path, start, size)
}

/**
 * The run id of an archive: that of its Header where it is a legal one, else the file's name, or the folder's for the
 * `run.lvr` of a daemon's run folder. Undefined when none of them will do.
 */
export const runIdOf = async (path: string): Promise<string | undefined> => {
  const named = basename(path) === 'run.lvr' ? basename(dirname(path)) : basename(path).replace(/\.lvr$/i, '')
  return [...(await headerIds(path)), named].find((name) => runId.safeParse(name).success)
}

const headerIds = async (path: string): Promise<readonly string[]> => {
  for await (const item of readStream(fileBytes(path))) {
    if (item.type === 'unreadable') continue
    if (item.type !== 'record' || item.record.kind !== 'Header') return []
    return [item.record.meta.read().run_id, item.record.identity.run_id]
  }
  return []
}
