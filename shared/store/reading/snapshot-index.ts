import type { Boundary } from './frames.ts'

// The sparse index: one object per run that lists all of its snapshots, newest last. Written in columns, which is
// short and quick to read:
//
//   {"version":2,"life":1,"tried":0,"seq":[812,1630],"offset":[1048610,2097166],"points":[…],…}

const VERSION = 2

/** A snapshot and the stretch of frames between the one before and itself. */
export interface SnapshotEntry extends Boundary {
  /** Points up to here. */
  readonly points: number
  /** Unreadable frames up to here. */
  readonly unreadable: number
  /** The least and the greatest record time of the stretch, as doubles; null where no frame of it has one. */
  readonly least_at: number | null
  readonly greatest_at: number | null
  /** The head's `sweep` when its object was stored. */
  readonly sweep: number
  /** Of the object's bytes, as in its key. */
  readonly hash: string
  /** Bytes of its state, at the object's beginning. */
  readonly length: number
  /** Bytes of its lists, behind the state; null where they are so large that the frames of the stretch stand for them. */
  readonly lists: number | null
}

export interface SnapshotIndex {
  readonly entries: readonly SnapshotEntry[]
  /** The archive was folded up to here and no state behind the last entry was small enough to be kept; 0 where that never was. */
  readonly tried: number
}

const COLUMNS = [
  'seq',
  'offset',
  'points',
  'unreadable',
  'least_at',
  'greatest_at',
  'sweep',
  'hash',
  'length',
  'lists',
] as const satisfies readonly (keyof SnapshotEntry)[]

export function indexBytes(life: number, { entries, tried }: SnapshotIndex): Uint8Array {
  const columns = COLUMNS.map((name) => [name, entries.map((entry) => entry[name])])
  const index = { version: VERSION, life, tried, ...Object.fromEntries(columns) }
  return new TextEncoder().encode(JSON.stringify(index))
}

/** Undefined where the index is of another version or another life. */
export function readIndex(bytes: Uint8Array, life: number): SnapshotIndex | undefined {
  const index = JSON.parse(new TextDecoder().decode(bytes))
  if (index.version !== VERSION || index.life !== life) return undefined
  const entries = (index.seq as number[]).map(
    (_, n) => Object.fromEntries(COLUMNS.map((name) => [name, index[name][n]])) as unknown as SnapshotEntry,
  )
  return { entries, tried: index.tried }
}

/** The last entry that `isBefore` holds for; -1 when it holds for none. It must hold for a beginning of the entries. */
export function lastWhere(
  entries: readonly SnapshotEntry[],
  isBefore: (entry: SnapshotEntry) => boolean,
): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(entries[middle] as SnapshotEntry)) low = middle + 1
    else high = middle
  }
  return low - 1
}
