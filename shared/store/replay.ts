import { extendDigest, scanRecord, streamFrames, Unreadable } from '../codec/index.ts'
import type { AppendAnswer, RunKey } from '../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../schema/index.ts'
import type { Addition } from './commit.ts'
import { leaseJson, position, serverTime } from './head.ts'
import { type StoreParts, viewOf } from './parts.ts'
import type { Head } from './ports.ts'
import { BEGINNING } from './reading/frames.ts'
import type { Snapshot } from './reading/snapshot.ts'
import { lastWhere } from './reading/snapshot-index.ts'
import { loadBareSnapshot, snapshotsOf } from './reading/snapshots.ts'
import type { ArchiveView } from './reading/view.ts'

/** What an ack tells of the archive up to some tail. */
export type Counts = Pick<Head, 'tail' | 'frames' | 'points' | 'unreadable' | 'digest'>

/**
 * The answer to a batch that begins before the tail (P3): the original ack if its bytes are stored there, whoever stored
 * them and however they were cut into batches.
 *
 * @throws offset_conflict where they differ, overlap where they are equal and go on past the tail.
 */
export async function replay(
  parts: StoreParts,
  run: RunKey,
  head: Head,
  addition: Addition,
): Promise<AppendAnswer> {
  const { offset, end } = addition
  const view = viewOf(parts.ports, run, head)
  if (!(await addition.isStored(view))) throw conflict(head, offset)
  if (end > head.tail) {
    const detail = `the bytes ${offset} to ${head.tail} are stored already, the rest is not`
    throw new RunfoldError('overlap', detail, position(head))
  }
  const counts = end === head.tail ? head : await measure(view, addition)
  return appendAnswer(run, head, offset, counts, true, parts.clock.now())
}

/** What an append is answered with; `counts` are those of the archive up to its end, `now` in ms. */
export function appendAnswer(
  run: RunKey,
  head: Head,
  offset: number,
  counts: Counts,
  replayed: boolean,
  now: number,
): AppendAnswer {
  return {
    run_id: run.run_id,
    offset,
    tail: counts.tail,
    frames: counts.frames,
    points: counts.points,
    digest: counts.digest,
    epoch: head.epoch,
    lease: leaseJson(head.lease as NonNullable<Head['lease']>),
    replayed,
    unreadable_frames: counts.unreadable,
    server_time: serverTime(now),
  }
}

function conflict(head: Head, offset: number): RunfoldError {
  const detail = `other bytes are stored at offset ${offset}; the archive ends at ${head.tail}`
  return new RunfoldError('offset_conflict', detail, position(head))
}

/** The counts as they were when the archive ended where the batch does, found by reading on from the nearest snapshot. */
async function measure(view: ArchiveView, { offset, end }: Addition): Promise<Counts> {
  const { entries } = await snapshotsOf(view)
  const begin = await knownBefore(
    view,
    lastWhere(entries, (entry) => entry.offset <= end),
  )
  const counts = { tail: end, frames: begin.seq, points: begin.points, unreadable: begin.unreadable }
  const hashing = hashed(view.bytes(begin.offset, end), begin.hash_state)
  try {
    for await (const { payload } of streamFrames(hashing.chunks, begin, end)) {
      const scan = scanRecord(payload)
      counts.frames++
      if (scan instanceof Unreadable) counts.unreadable++
      else if (scan.point && view.head.headed) counts.points++
    }
  } catch (error) {
    // Equal bytes in the middle of some payload: no batch ever ended here.
    if (isRunfoldError(error, 'bad_frames')) throw conflict(view.head, offset)
    throw error
  }
  return { ...counts, digest: hashing.digest() }
}

/** What is known at the nearest snapshot at or before entry n, or at the beginning, with a hash state that can be continued. */
export async function knownBefore(view: ArchiveView, n: number): Promise<Snapshot> {
  const begin = (await loadBareSnapshot(view, n)) ?? {
    ...BEGINNING,
    life: view.head.life,
    points: 0,
    unreadable: 0,
    hash_state: '',
    folding: undefined,
  }
  const isSaved = begin.hash_state !== '' && extendDigest(begin.hash_state, []) !== undefined
  return isSaved ? begin : { ...begin, hash_state: (await digestUpTo(view, begin.offset, [])).state }
}

/** The digest and its saved state of the first `tail` bytes and what follows them. */
export async function digestUpTo(view: ArchiveView, tail: number, more: readonly Uint8Array[]) {
  let saved = extended(null, [])
  for await (const chunk of view.bytes(0, tail)) saved = extended(saved.state, [chunk])
  return extended(saved.state, more)
}

function hashed(source: AsyncIterable<Uint8Array>, state: string) {
  let saved = extended(state, [])
  async function* chunks() {
    for await (const chunk of source) {
      saved = extended(saved.state, [chunk])
      yield chunk
    }
  }
  return { chunks: chunks(), digest: () => saved.digest }
}

/** A digest that was made here, continued. */
export function extended(state: string | null, chunks: readonly Uint8Array[]) {
  const saved = extendDigest(state, chunks)
  if (!saved) throw new RunfoldError('internal', 'a hash state made here is of an unknown version')
  return saved
}
