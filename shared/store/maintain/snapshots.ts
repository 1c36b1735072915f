import { type Frame, loadDigest } from '../../codec/index.ts'
import { isRunfoldError, type RunKey } from '../../schema/index.ts'
import { extentStart } from '../keys.ts'
import { viewOf } from '../parts.ts'
import type { DerivedPlace, Head, StorePorts } from '../ports.ts'
import { type Boundary, framesFrom } from '../reading/frames.ts'
import { recordReader } from '../reading/record-reader.ts'
import { snapshotChunks } from '../reading/snapshot.ts'
import { snapshotsOf } from '../reading/snapshots.ts'
import type { ArchiveView } from '../reading/view.ts'
import { knownBefore } from '../replay.ts'
import { KeptStates } from './kept-states.ts'
import { isSnapshotDue, type SnapshotPolicy, snapshotsEnd, wantsSnapshots } from './snapshot-policy.ts'
import { Stretch } from './stretch.ts'

/** Archive bytes folded in one go, so that a long archive does not hold up the other runs. */
const BYTES_A_VISIT = 128 * 1024 * 1024
/** Bytes of states that wait in memory for their object to be stored. */
const KEPT_BYTES = 8 * 1024 * 1024
/** A state that packs better than this is spaced as if it did not: writing and packing it is work, too (P9). */
const PACKING = 16

/**
 * Folds on from the newest snapshot, keeps the states on the way, and names them (DESIGN.md, Snapshots). The commit is
 * conditional on the generation, like every one that adds objects. False when there is more to do.
 */
export async function writeSnapshots(
  ports: StorePorts,
  run: RunKey,
  head: Head,
  policy: SnapshotPolicy,
  isAtRest: boolean,
): Promise<boolean> {
  if (!wantsSnapshots(head, policy, isAtRest)) return true
  const end = snapshotsEnd(head, policy, isAtRest)
  const folded = await storeSnapshots(ports, viewOf(ports, run, head), end, policy)
  if (!folded) return true
  const { life, sweep } = head
  const { snapshot, isDone } = folded
  return (await ports.index.commit(run, { alive: true, life, sweep }, { set: { snapshot } })) && isDone
}

export interface FoldedOn {
  /** For the head, which must still be of the view's generation. */
  readonly snapshot: DerivedPlace
  readonly isDone: boolean
}

/** Stores snapshots of the archive up to `end`; undefined where that gives none. */
export async function storeSnapshots(
  { objects }: StorePorts,
  view: ArchiveView,
  end: number,
  policy: SnapshotPolicy,
): Promise<FoldedOn | undefined> {
  await loadDigest()
  const known = await snapshotsOf(view)
  if (!isWorthAnother(end, known.tried, known.entries.at(-1)?.offset ?? 0)) return undefined
  const begin = await knownBefore(view, known.entries.length - 1)
  const ends = extentEnds(view.head)
  const stretch = new Stretch(begin)
  const read = recordReader(view)
  const entries = known.entries.filter(({ seq }) => seq <= begin.seq)
  const kept = new KeptStates()
  let last = { offset: entries.at(-1)?.offset ?? 0, bytes: entries.at(-1)?.length ?? 0 }
  let tried = 0
  let isDone = true
  for await (const frame of soundFrames(view, begin, end)) {
    stretch.add(frame, read)
    const offset = frame.offset + frame.length
    if (!isSnapshotDue(policy, offset, last, ends.has(offset))) continue
    const written = lengthUpTo(policy.stateBytes, snapshotChunks(stretch.snapshot))
    if (written > policy.stateBytes) {
      tried = offset
      last = { offset, bytes: policy.stateBytes }
      continue
    }
    last = { offset, bytes: Math.max(await kept.add(stretch.close()), written / PACKING) }
    isDone = offset - begin.offset < BYTES_A_VISIT && kept.bytes < KEPT_BYTES
    if (!isDone) break
  }
  if (kept.count === 0 && tried <= known.tried) return undefined
  return { snapshot: await kept.store(objects, view.run, view.head, { entries, tried }), isDone }
}

/**
 * Whether the archive has grown enough since its states were last found too large: as much again as was folded then, so
 * that in all no more is folded in vain than the archive is long, twice.
 */
const isWorthAnother = (end: number, tried: number, newest: number) => end - tried >= tried - newest

/** Of all of them together, or something over `most`: looks no further than it must. */
function lengthUpTo(most: number, chunks: Iterable<Uint8Array>): number {
  let sum = 0
  for (const { length } of chunks) {
    sum += length
    if (sum > most) break
  }
  return sum
}

/** Damage is named by verify and by whoever reads there; what lies before it keeps its snapshots. */
async function* soundFrames(view: ArchiveView, begin: Boundary, end: number): AsyncGenerator<Frame> {
  try {
    yield* framesFrom(view, begin, end)
  } catch (error) {
    if (!isRunfoldError(error, 'internal')) throw error
  }
}

const extentEnds = ({ extents }: Head): ReadonlySet<number> =>
  new Set(Object.entries(extents).map(([name, { length }]) => extentStart(name) + length))
