import { PREAMBLE, pickMeta, readStream, readTrusted, type Scan, scanRecord, Unreadable } from '#codec'
import type { RecordKind, RunStatus } from '#schema'

export interface TornTail {
  readonly offset: number
  readonly length: number
  readonly reason: string
}

export interface Survey {
  /** Archive bytes 0..end are the preamble and whole frames. */
  readonly end: number
  /**
   * The part of them that no byte written later can make anything else of. Behind it stand frames that are not JSON and are
   * whole only because the file ends just there (LVR1.md 6d, step 1): what swallows the frames behind a tear looks so
   * for a moment.
   */
  readonly certain: number
  /** What follows the whole frames, if anything (LVR1.md 6e). */
  readonly torn: TornTail | undefined
  /** The run's status as the last of these frames that has one tells it. */
  readonly status: RunStatus | undefined
}

const TELLS_STATUS: ReadonlySet<RecordKind> = new Set(['Header', 'Checkpoint', 'Progress', 'StatusChanged'])

type Chunks = AsyncIterable<Uint8Array>

/**
 * Finds the end of the last whole frame in the archive bytes from `start` on, a frame boundary (or 0). Frames that only look
 * whole behind a tear are not counted (LVR1.md 6d): what is appended to an archive can never be taken back.
 *
 * @throws bad_frames when the bytes do not begin as an archive does
 */
export const surveyFrames = async (bytes: Chunks, start: number): Promise<Survey> => {
  let end = Math.max(start, PREAMBLE.length)
  let doubt: number | undefined
  let telling: Uint8Array | undefined
  const scan = (payload: Uint8Array): Scan | Unreadable => {
    const found = scanRecord(payload)
    if (!(found instanceof Unreadable) && TELLS_STATUS.has(found.kind)) telling = payload
    return found
  }
  const shift = Math.max(0, start - PREAMBLE.length)
  for await (const item of readStream(start > 0 ? behindPreamble(bytes) : bytes, scan)) {
    if (item.type === 'torn') {
      const offset = item.offset + shift
      const torn = { offset, length: item.length, reason: item.reason }
      return { end: offset, certain: Math.min(doubt ?? offset, offset), torn, status: statusIn(telling) }
    }
    if (item.type === 'record') doubt = undefined
    else if (item.reason === 'not_json') doubt ??= end
    end = item.frame.offset + shift + item.frame.length
  }
  return { end, certain: doubt ?? end, torn: undefined, status: statusIn(telling) }
}

const statusIn = (payload: Uint8Array | undefined): RunStatus | undefined => {
  if (payload === undefined) return undefined
  const record = readTrusted(payload)
  if (record.kind === 'StatusChanged') return record.status
  return 'meta' in record ? pickMeta(record.meta, 'status').status : undefined
}

/** The reader wants a preamble first; in the middle of an archive it gets one that is not there. */
async function* behindPreamble(bytes: Chunks): AsyncGenerator<Uint8Array> {
  yield PREAMBLE
  yield* bytes
}
