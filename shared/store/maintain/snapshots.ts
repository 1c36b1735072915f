import { digestOf, type Frame, loadDigest } from '../../codec/index.ts'
import { isRunfoldError, type RunKey } from '../../schema/index.ts'
import { derivedKey, extentStart, HASH_DIGITS } from '../keys.ts'
import { viewOf } from '../parts.ts'
import type { Head, Objects, StorePorts } from '../ports.ts'
import { BEGINNING, type Boundary, framesFrom } from '../reading/frames.ts'
import { gzip } from '../reading/gzip.ts'
import { recordReader } from '../reading/record-reader.ts'
import { listBytes, snapshotChunks } from '../reading/snapshot.ts'
import { indexBytes, type SnapshotEntry, type SnapshotIndex } from '../reading/snapshot-index.ts'
import { snapshotsOf } from '../reading/snapshots.ts'
import type { ArchiveView } from '../reading/view.ts'
import { knownBefore } from '../replay.ts'
import { isSnapshotDue, type SnapshotPolicy, snapshotsEnd, wantsSnapshots } from './snapshot-policy.ts'
import { type ClosedStretch, Stretch } from './stretch.ts'

/** Archive bytes folded in one go, so that a long archive does not hold up the other runs. */
const BYTES_A_VISIT = 128 * 1024 * 1024
/** A state is kept where it has no more JSON than this; a larger one would cost a reader more than folding to it does. */
const STATE_BYTES = 16 * 1024 * 1024

/**
 * Folds on from the newest snapshot, keeps the states on the way, and names them in a new index (DESIGN.md, Snapshots).
 * The commit is conditional on the generation, like every one that adds objects. False when there is more to do.
 */
export async function writeSnapshots(
  ports: StorePorts,
  run: RunKey,
  head: Head,
  policy: SnapshotPolicy,
  isAtRest: boolean,
): Promise<boolean> {
  if (!wantsSnapshots(head, policy, isAtRest)) return true
  await loadDigest()
  const view = viewOf(ports, run, head)
  const { entries: known, tried: triedBefore } = await snapshotsOf(view)
  const end = snapshotsEnd(head, policy, isAtRest)
  if (!isWorthAnother(end, triedBefore, known.at(-1)?.offset ?? 0)) return true
  const begin = await knownBefore(view, known.length - 1)
  const ends = extentEnds(head)
  const stretch = new Stretch(begin)
  const read = recordReader(view)
  const kept = known.filter(({ seq }) => seq <= begin.seq)
  const entries = [...kept]
  let last = { offset: kept.at(-1)?.offset ?? 0, bytes: kept.at(-1)?.length ?? 0 }
  let tried = 0
  let isDone = true
  for await (const frame of soundFrames(view, begin, end)) {
    stretch.add(frame, read)
    const offset = frame.offset + frame.length
    if (!isSnapshotDue(policy, offset, last, ends.has(offset))) continue
    if (isOver(STATE_BYTES, snapshotChunks(stretch.snapshot))) {
      tried = offset
      last = { offset, bytes: STATE_BYTES }
      continue
    }
    const entry = await storeSnapshot(ports.objects, run, head, stretch.close())
    entries.push(entry)
    last = { offset, bytes: entry.length }
    isDone = offset - begin.offset < BYTES_A_VISIT
    if (!isDone) break
  }
  if (entries.length === kept.length && tried <= triedBefore) return true
  return (await commitIndex(ports, run, head, { entries, tried })) && isDone
}

/**
 * Whether the archive has grown enough since its states were last found too large: as much again as was folded then, so
 * that in all no more is folded in vain than the archive is long, twice.
 */
const isWorthAnother = (end: number, tried: number, newest: number) => end - tried >= tried - newest

/** Looks no further than it must. */
function isOver(bytes: number, chunks: Iterable<Uint8Array>): boolean {
  let left = bytes
  for (const { length } of chunks) {
    left -= length
    if (left < 0) return true
  }
  return false
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

const NONE = new Uint8Array(0)

async function storeSnapshot(
  objects: Objects,
  run: RunKey,
  { life, sweep }: Head,
  { snapshot, lists, least_at, greatest_at }: ClosedStretch,
): Promise<SnapshotEntry> {
  const { seq, offset, points, unreadable } = snapshot
  const state = await gzip(snapshotChunks(snapshot))
  const added = lists ? listBytes(lists) : NONE
  const gained = added.length > 0 ? await gzip([added]) : NONE
  const hash = digestOf(state, gained).slice(0, HASH_DIGITS)
  const place = { sweep, life, seq, offset, hash }
  await objects.put(derivedKey(run, 'snapshot', place), [state, gained], factsOf(life, snapshot))
  const sizes = { length: state.length, lists: lists ? gained.length : null }
  return { seq, offset, points, unreadable, least_at, greatest_at, sweep, hash, ...sizes }
}

async function commitIndex(
  { objects, index }: StorePorts,
  run: RunKey,
  { life, sweep }: Head,
  snapshots: SnapshotIndex,
): Promise<boolean> {
  const { seq, offset } = snapshots.entries.at(-1) ?? BEGINNING
  const bytes = await gzip([indexBytes(life, snapshots)])
  const hash = digestOf(bytes).slice(0, HASH_DIGITS)
  const key = derivedKey(run, 'index', { sweep, life, seq, offset, hash })
  await objects.put(key, [bytes], factsOf(life, { seq, offset }))
  return index.commit(run, { alive: true, life, sweep }, { set: { snapshot: { seq, offset, key } } })
}

const factsOf = (life: number, { seq, offset }: Boundary) => ({
  life: String(life),
  seq: String(seq),
  offset: String(offset),
})
