import { type FoldState, type Keep, NO_HEADER } from '../../fold/index.ts'
import { derivedKey } from '../keys.ts'
import type { ByteRange } from '../ports.ts'
import { BEGINNING, type Boundary } from './frames.ts'
import { gunzip } from './gzip.ts'
import { readSnapshot, type Snapshot, withLists } from './snapshot.ts'
import { lastWhere, readIndex, type SnapshotEntry } from './snapshot-index.ts'
import type { ArchiveView } from './view.ts'

// Snapshots and their index only save reading: whatever is missing, damaged, of another version or of another life is
// as if it had never been written, and the archive is read from further back.

/** The archive's snapshots, oldest first, for whoever looks a place up in them. */
export interface Snapshots {
  readonly entries: readonly SnapshotEntry[]
  /** The boundary of the entry, or the beginning for -1. */
  boundary(n: number): Boundary
  /** Where the stretch that begins with that boundary ends: at the next entry, or the tail. */
  endOfStretch(n: number): number
}

const known = new WeakMap<ArchiveView, Promise<Snapshots>>()

/** Read once a view. */
export function snapshotsOf(view: ArchiveView): Promise<Snapshots> {
  let snapshots = known.get(view)
  if (!snapshots) {
    snapshots = readEntries(view).then((entries) => ({
      entries,
      boundary: (n) => entries[n] ?? BEGINNING,
      endOfStretch: (n) => entries[n + 1]?.offset ?? view.head.tail,
    }))
    known.set(view, snapshots)
  }
  return snapshots
}

async function readEntries(view: ArchiveView): Promise<readonly SnapshotEntry[]> {
  const { snapshot, life } = view.head
  const packed = snapshot && (await view.derived(snapshot.key))
  return (packed && (await unpacked(packed, (bytes) => readIndex(bytes, life)))) || []
}

/** The last entry at or before a frame boundary of that number; -1 for none. */
export const entryBefore = ({ entries }: Snapshots, seq: number): number =>
  lastWhere(entries, (entry) => entry.seq <= seq)

/** The last entry before that point is made; -1 for none. */
export const entryBeforePoint = ({ entries }: Snapshots, point: number): number =>
  lastWhere(entries, (entry) => entry.points <= point)

/** Snapshots that are tried before the archive is read from its beginning. */
const MAX_TRIES = 2
const NO_LISTS: Keep = { messages: false, inference_usage: false }

/** The nearest snapshot that can be read at or before entry n, with its lists only if they are kept. */
export async function loadSnapshot(
  view: ArchiveView,
  n: number,
  keep: Keep = { messages: true, inference_usage: true },
): Promise<Snapshot | undefined> {
  const { entries } = await snapshotsOf(view)
  for (let place = n; place >= 0 && place > n - MAX_TRIES; place--) {
    const snapshot = await loadState(view, entries[place] as SnapshotEntry)
    if (!snapshot) continue
    const { folding } = snapshot
    const isListed = keep.messages || keep.inference_usage
    if (!isListed || folding === undefined || folding === NO_HEADER) return snapshot
    const state = await loadLists(view, folding, entries.slice(0, place + 1))
    return state && { ...snapshot, folding: state }
  }
  return undefined
}

/** Without the lists. */
export const loadBareSnapshot = (view: ArchiveView, n: number) => loadSnapshot(view, n, NO_LISTS)

async function loadState(view: ArchiveView, entry: SnapshotEntry): Promise<Snapshot | undefined> {
  const snapshot = await section(view, entry, { start: 0, end: entry.length }, readSnapshot)
  const isSame =
    snapshot?.life === view.head.life && snapshot.seq === entry.seq && snapshot.offset === entry.offset
  return isSame ? snapshot : undefined
}

/** Lists that are fetched at once. */
const LISTS_AT_ONCE = 16

async function loadLists(
  view: ArchiveView,
  state: FoldState,
  entries: readonly SnapshotEntry[],
): Promise<FoldState | undefined> {
  const listed = entries.filter(({ lists }) => lists > 0)
  const written: Uint8Array[] = []
  for (let at = 0; at < listed.length; at += LISTS_AT_ONCE) {
    const some = listed.slice(at, at + LISTS_AT_ONCE)
    const parts = await Promise.all(
      some.map((entry) => section(view, entry, listsRange(entry), (bytes) => bytes)),
    )
    for (const part of parts) {
      if (!part) return undefined
      written.push(part)
    }
  }
  return withLists(state, written)
}

const listsRange = ({ length, lists }: SnapshotEntry): ByteRange => ({ start: length, end: length + lists })

async function section<T>(
  { run, head, derived }: ArchiveView,
  entry: SnapshotEntry,
  range: ByteRange,
  read: (bytes: Uint8Array) => T,
): Promise<T | undefined> {
  const packed = await derived(derivedKey(run, 'snapshot', { ...entry, life: head.life }), range)
  return packed && unpacked(packed, read)
}

async function unpacked<T>(packed: Uint8Array, read: (bytes: Uint8Array) => T): Promise<T | undefined> {
  try {
    return read(await gunzip(packed))
  } catch {
    return undefined
  }
}
