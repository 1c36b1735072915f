import type { Frame, HeldRecord } from '../../codec/index.ts'
import type { Folding, Keep } from '../../fold/index.ts'
import { fold } from '../../fold/index.ts'
import type { Boundary } from './frames.ts'
import { BEGINNING, frameBatchesFrom } from './frames.ts'
import { recordReader } from './record-reader.ts'
import { loadSnapshot, snapshotsOf } from './snapshots.ts'
import type { ArchiveView } from './view.ts'

/** The state after a number of frames, and where the next one begins. */
export interface StateAt extends Boundary {
  readonly folding: Folding
}

/** The state after one frame; `record` is undefined where the frame is unreadable. */
export interface Step extends StateAt {
  readonly record: HeldRecord | undefined
}

/**
 * Folds on from a state, handing out the states after every frame, several at a time; unreadable frames count as frames
 * and change nothing. Without entries, what a step's record holds is gone when the next steps are asked for.
 */
export async function* statesFrom(
  view: ArchiveView,
  start: StateAt,
  keep?: Keep,
  end?: number,
): AsyncGenerator<Iterable<Step>> {
  yield* foldedOver(view, start, batchesFrom(view, start, keep, end), keep)
}

/** Where nothing of a frame is kept, its memory need not be its own. */
const batchesFrom = (view: ArchiveView, start: Boundary, keep?: Keep, end?: number) =>
  frameBatchesFrom(view, start, { end, lent: keep?.entries === false })

async function* foldedOver(
  view: ArchiveView,
  start: StateAt,
  batches: AsyncIterable<Iterable<Frame>>,
  keep?: Keep,
): AsyncGenerator<Iterable<Step>> {
  let folding: Folding = start.folding
  const read = recordReader(view, keep)
  function* steps(frames: Iterable<Frame>): Generator<Step> {
    for (const frame of frames) {
      const record = read(frame.payload)
      if (record) folding = fold(folding, record, keep)
      yield { seq: frame.seq + 1, offset: frame.offset + frame.length, folding, record }
    }
  }
  for await (const frames of batches) yield steps(frames)
}

/** The state at the nearest snapshot at or before entry n; without one at the beginning, where nothing is known. */
export async function stateFrom(view: ArchiveView, n: number, keep?: Keep): Promise<StateAt> {
  return (await loadSnapshot(view, n, keep)) ?? { ...BEGINNING, folding: undefined }
}

/** That state, and then the states after every frame up to `end`; the frames are fetched while the snapshot is. */
export async function* statesSince(
  view: ArchiveView,
  n: number,
  keep?: Keep,
  end?: number,
): AsyncGenerator<Iterable<Step>> {
  const expected = (await snapshotsOf(view)).boundary(n)
  const frames = batchesFrom(view, expected, keep, end)
  const first = frames.next()
  first.catch(() => {}) // whoever takes it sees its error
  try {
    const start = await stateFrom(view, n, keep)
    yield [{ ...start, record: undefined }]
    if (start.seq === expected.seq) yield* foldedOver(view, start, resumed(first, frames), keep)
    else yield* statesFrom(view, start, keep, end)
  } finally {
    await frames.return(undefined)
  }
}

async function* resumed<T>(first: Promise<IteratorResult<T>>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  const { done, value } = await first
  if (done) return
  yield value
  yield* rest
}
