import type { Frame } from '../../codec/index.ts'
import { checkPreamble, PREAMBLE, streamFrameBatches } from '../../codec/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { released } from '../release.ts'
import { takingTurns } from './turns.ts'
import type { ArchiveView } from './view.ts'

/** A frame boundary of the archive, and how many frames stand before it. */
export interface Boundary {
  readonly seq: number
  readonly offset: number
}

/** The boundary before the first frame. */
export const BEGINNING: Boundary = { seq: 0, offset: PREAMBLE.length }

/**
 * The archive's frames from a boundary up to another (default: the tail of the view's head). Stored frames were checked when they were
 * taken, so bytes that do not walk are damage: `internal`, naming the range (P7).
 */
export async function* framesFrom(
  view: ArchiveView,
  boundary: Boundary,
  end?: number,
): AsyncGenerator<Frame> {
  const turn = takingTurns()
  for await (const frames of frameBatchesFrom(view, boundary, { end })) {
    for (const frame of frames) {
      yield frame
      const pause = turn()
      if (pause !== undefined) await pause
    }
  }
}

/** The same, several at a time; `lent` payloads are gone when the next batch is asked for. */
export async function* frameBatchesFrom(
  view: ArchiveView,
  { seq, offset }: Boundary,
  { end = view.head.tail, lent = false }: { readonly end?: number | undefined; readonly lent?: boolean } = {},
): AsyncGenerator<Iterable<Frame>> {
  if (end <= offset) return
  try {
    const isFirst = offset === BEGINNING.offset
    // Frames have memory of their own, or are lent.
    const chunks = released(view.bytes(isFirst ? 0 : offset, end))
    const bytes = isFirst ? withoutPreamble(chunks) : chunks
    const turn = takingTurns()
    for await (const frames of streamFrameBatches(bytes, { offset, seq }, { end, lent })) {
      yield frames
      const pause = turn()
      if (pause !== undefined) await pause
    }
  } catch (error) {
    if (!isRunfoldError(error, 'bad_frames')) throw error
    const at = typeof error.facts.offset === 'number' ? error.facts.offset : offset
    throw new RunfoldError(
      'internal',
      `archive bytes ${at} to ${end} are damaged`,
      { offset: at, length: end - at },
      { cause: error },
    )
  }
}

/** The first batch of an archive is stored whole, so the preamble never spans two chunks. */
async function* withoutPreamble(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst) checkPreamble(chunk)
    yield isFirst ? chunk.subarray(PREAMBLE.length) : chunk
    isFirst = false
  }
}
