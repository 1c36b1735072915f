import type { Int, RecordKind } from '../schema/index.ts'
import { readStream, type TornTail } from './reader.ts'
import { scanRecord } from './record.ts'
import { salvage } from './salvage.ts'

/** One frame, or the torn tail, for a person to look at. It holds no text of the payload, so it may be passed on. */
export interface Finding {
  /** Null behind a torn tail, where frame numbers mean nothing. */
  readonly seq: number | null
  readonly offset: number
  /** With the length prefix; of a torn tail up to the end of the file. */
  readonly length: number
  readonly kind: RecordKind | null
  readonly at: Int | null
  /** Null where a record could be read. */
  readonly problem: string | null
  readonly torn?: TornTail
  /** Found behind the torn tail; counts nowhere (LVR1.md 6i). */
  readonly salvaged?: true
}

/**
 * Explains any bytes: where each frame stands, what it is and what is wrong with it.
 *
 * @throws bad_frames when the preamble is none this reader knows
 */
export async function* inspect(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Finding, void, undefined> {
  for await (const item of readStream(chunks, scanRecord)) {
    if (item.type === 'torn') {
      const { seq, offset, length, reason } = item
      const problem = `torn tail to the end of the file: ${reason}`
      yield { seq, offset, length, kind: null, at: null, problem, torn: item }
      continue
    }
    const { seq, offset, length } = item.frame
    if (item.type === 'unreadable') {
      yield { seq, offset, length, kind: null, at: null, problem: `unreadable: ${item.reason}` }
    } else {
      const { kind, at } = item.record
      yield { seq, offset, length, kind, at, problem: null }
    }
  }
}

/** What a salvage finds in the bytes of a torn tail that begins at `offset` of the archive. */
export function* inspectTorn(tail: Uint8Array, offset: number): Generator<Finding, void, undefined> {
  for (const { frame, record } of salvage(tail, 0, scanRecord)) {
    const { kind, at } = record
    yield {
      seq: null,
      offset: offset + frame.offset,
      length: frame.length,
      kind,
      at,
      problem: null,
      salvaged: true,
    }
  }
}
