import type { DerivedPlace } from '../ports.ts'
import type { Boundary } from './frames.ts'

// The sparse index lists all snapshots of a run, newest last. It stands behind the states that were made with it, or
// alone. Written in columns, which is short and quick to read:
//
//   {"version":3,"tried":0,"states":"01…ef",
//    "objects":{"count":[8,8],"sweep":[0],"seq":[1630],…},     where the states are; the last 8 in this object itself
//    "seq":[812,1630,…],"offset":[1048610,2097166,…],…}        a row for each state

const VERSION = 3

/** A snapshot and the stretch of frames between the one before and itself. */
export interface SnapshotEntry extends Boundary {
  /** Points up to here. */
  readonly points: number
  /** Unreadable frames up to here. */
  readonly unreadable: number
  /** The least and the greatest record time of the stretch, as doubles; null where no frame of it has one. */
  readonly least_at: number | null
  readonly greatest_at: number | null
  /** Bytes of its state. */
  readonly length: number
  /** Bytes of its lists, behind the state; null where they are so large that the frames of the stretch stand for them. */
  readonly lists: number | null
  /** Where its state begins in its object. */
  readonly start: number
  readonly object: DerivedPlace
}

/** One whose object is the one that the index will stand in, behind its states. */
export type NewEntry = Omit<SnapshotEntry, 'object' | 'start'>

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
  'length',
  'lists',
] as const satisfies readonly (keyof NewEntry)[]

const OBJECT_COLUMNS = [
  'sweep',
  'life',
  'seq',
  'offset',
  'stateBytes',
  'indexBytes',
  'hash',
] as const satisfies readonly (keyof DerivedPlace)[]

/** @param states hash of the states that the index will stand behind; their entries are `added` */
export function indexBytes(
  { entries, tried }: SnapshotIndex,
  added: readonly NewEntry[],
  states: string,
): Uint8Array {
  const places: DerivedPlace[] = []
  const count: number[] = []
  for (const { object } of entries) {
    if (object.hash !== places.at(-1)?.hash) places.push(object)
    count[places.length - 1] = (count[places.length - 1] ?? 0) + 1
  }
  const objects = { count: [...count, added.length], ...columns(OBJECT_COLUMNS, places) }
  const index = { version: VERSION, tried, states, objects, ...columns(COLUMNS, [...entries, ...added]) }
  return new TextEncoder().encode(JSON.stringify(index))
}

/** Undefined where the index is of another version. @param own the object it stands in */
export function readIndex(bytes: Uint8Array, own: DerivedPlace): SnapshotIndex | undefined {
  const index = JSON.parse(new TextDecoder().decode(bytes))
  if (index.version !== VERSION) return undefined
  const { count, ...places } = index.objects
  const all = rows(COLUMNS, index as Columns<NewEntry>)
  const entries: SnapshotEntry[] = []
  for (const [n, object] of [...rows(OBJECT_COLUMNS, places as Columns<DerivedPlace>), own].entries()) {
    let start = 0
    for (const entry of all.slice(entries.length, entries.length + count[n])) {
      entries.push({ ...entry, start, object })
      start += entry.length + (entry.lists ?? 0)
    }
  }
  return { entries, tried: index.tried }
}

type Columns<T> = { readonly [K in keyof T]: readonly T[K][] }

const columns = <T, K extends keyof T>(names: readonly K[], all: readonly T[]) =>
  Object.fromEntries(names.map((name) => [name, all.map((row) => row[name])]))

const rows = <T extends object>(names: readonly (keyof T)[], of: Columns<T>): T[] =>
  (of[names[0] as keyof T] ?? []).map(
    (_, n) => Object.fromEntries(names.map((name) => [name, of[name][n]])) as T,
  )

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
