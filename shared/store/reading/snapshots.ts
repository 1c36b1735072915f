import { digestOf, type HeldRecord, loadDigest } from '../../codec/index.ts'
import { type Keep, NO_HEADER, WITHOUT_LISTS } from '../../fold/index.ts'
import { derivedKey } from '../keys.ts'
import type { ByteRange } from '../ports.ts'
import { BEGINNING, type Boundary, framesFrom } from './frames.ts'
import { gunzip } from './gzip.ts'
import { recordReader } from './record-reader.ts'
import { readLists, readSnapshot, type Snapshot, withLists } from './snapshot.ts'
import { lastWhere, readIndex, type SnapshotEntry, type SnapshotIndex } from './snapshot-index.ts'
import type { ArchiveView } from './view.ts'

// Snapshots and their index only save reading: whatever is missing, damaged, of another version or of another life is
// as if it had never been written, and the archive is read from further back.

/** The archive's snapshots, oldest first, for whoever looks a place up in them. */
export interface Snapshots extends SnapshotIndex {
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
    snapshots = indexOf(view).then(({ entries, tried }) => ({
      entries,
      tried,
      boundary: (n) => entries[n] ?? BEGINNING,
      endOfStretch: (n) => entries[n + 1]?.offset ?? view.head.tail,
    }))
    known.set(view, snapshots)
  }
  return snapshots
}

const NONE: SnapshotIndex = { entries: [], tried: 0 }

async function indexOf({ run, head, derived }: ArchiveView): Promise<SnapshotIndex> {
  const { snapshot, life } = head
  if (snapshot?.life !== life) return NONE
  const { stateBytes, indexBytes, hash } = snapshot
  const found = await derived(derivedKey(run, snapshot), { start: stateBytes, end: stateBytes + indexBytes })
  await loadDigest()
  // Under its own hash: another run's index in its place would send readers past the ends of frames.
  if (!found || !digestOf(found).startsWith(hash)) return NONE
  return (await unpacked(found, (bytes) => readIndex(bytes, snapshot))) ?? NONE
}

/** The last entry at or before a frame boundary of that number; -1 for none. */
export const entryBefore = ({ entries }: Snapshots, seq: number): number =>
  lastWhere(entries, (entry) => entry.seq <= seq)

/** The last entry before that point is made; -1 for none. */
export const entryBeforePoint = ({ entries }: Snapshots, point: number): number =>
  lastWhere(entries, (entry) => entry.points <= point)

/** Snapshots that are tried before the archive is read from its beginning. */
const MAX_TRIES = 2

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
    const records = await listRecords(view, place, keep)
    return records && { ...snapshot, folding: withLists(folding, records) }
  }
  return undefined
}

/** Without the lists. */
export const loadBareSnapshot = (view: ArchiveView, n: number) => loadSnapshot(view, n, WITHOUT_LISTS)

async function loadState(view: ArchiveView, entry: SnapshotEntry): Promise<Snapshot | undefined> {
  const { start, length } = entry
  const snapshot = await section(view, entry, { start, end: start + length }, readSnapshot)
  const isSame =
    snapshot?.life === view.head.life && snapshot.seq === entry.seq && snapshot.offset === entry.offset
  return isSame ? snapshot : undefined
}

/** Lists that are fetched at once. */
const LISTS_AT_ONCE = 16

/** The records of all lists up to entry `last`, oldest first; undefined where some that were written cannot be read. */
async function listRecords(view: ArchiveView, last: number, keep: Keep): Promise<HeldRecord[] | undefined> {
  const { entries, boundary } = await snapshotsOf(view)
  const listed = entries.slice(0, last + 1).flatMap((entry, n) => (entry.lists === 0 ? [] : [{ entry, n }]))
  const records: HeldRecord[] = []
  for (let at = 0; at < listed.length; at += LISTS_AT_ONCE) {
    const some = listed.slice(at, at + LISTS_AT_ONCE)
    const written = await Promise.all(some.map(({ entry }) => writtenLists(view, entry)))
    for (const [place, { entry, n }] of some.entries()) {
      const lists = entry.lists === null ? listsBetween(view, boundary(n - 1), entry, keep) : written[place]
      if (!lists) return undefined
      for await (const record of lists) records.push(record)
    }
  }
  return records
}

async function writtenLists(
  view: ArchiveView,
  entry: SnapshotEntry,
): Promise<Iterable<HeldRecord> | undefined> {
  const { lists } = entry
  if (lists === null) return undefined
  const start = entry.start + entry.length
  return section(view, entry, { start, end: start + lists }, readLists)
}

/** Out of the frames themselves, of which only what is wanted stays in memory. */
async function* listsBetween(
  view: ArchiveView,
  begin: Boundary,
  end: Boundary,
  keep: Keep,
): AsyncGenerator<HeldRecord> {
  const read = recordReader(view)
  for await (const { payload } of framesFrom(view, begin, end.offset)) {
    const record = read(payload)
    const isWanted =
      (record?.kind === 'Message' && keep.messages) ||
      (record?.kind === 'InferenceUsage' && keep.inference_usage)
    if (record && isWanted) yield record
  }
}

/** What `read` makes of a packed part of an object of snapshots; undefined where it is gone or damaged. */
async function section<T>(
  { run, derived }: ArchiveView,
  { object }: SnapshotEntry,
  range: ByteRange,
  read: (bytes: Uint8Array) => T,
): Promise<T | undefined> {
  const packed = await derived(derivedKey(run, object), range)
  return packed && unpacked(packed, read)
}

async function unpacked<T>(packed: Uint8Array, read: (bytes: Uint8Array) => T): Promise<T | undefined> {
  try {
    return read(await gunzip(packed))
  } catch {
    return undefined
  }
}
