import type { RunKey } from '../schema/index.ts'
import type { DerivedPlace, Extent } from './ports.ts'

// Every object key of runs is spelled here (DESIGN.md, "Archive = list of extents"):
//
//   runs/<tenant>/<run_id>/<sweep>-<start>-<length>-<hash>
//        a run's own prefix ┘        └ byte range     └ content
//
// The generation `sweep` is the head's when the object was stored. With range and hash in the key a retried put writes
// the same object again, and two writers never share a key with different bytes. What is derived stands beside the archive:
//
//   runs/<tenant>/<run_id>/snapshots-<sweep>-<life>-<seq>-<offset>-<states>-<index>-<hash>
//        states, the last of them at that place ┘              └ bytes of each ┘

const SWEEP_DIGITS = 10
const START_DIGITS = 16

const padded = (number: number) => String(number).padStart(START_DIGITS, '0')

/** Hex digits of an extent's hash. */
export const HASH_DIGITS = 16

/** Extents are named by their zero-padded start, so that key order is archive order up to 2^53 − 1. */
export function extentName(start: number): string {
  return padded(start)
}

/** What `extentName` was given. */
export function extentStart(name: string): number {
  return Number(name)
}

/** Everything stored for one run begins so; no run's prefix is the beginning of another's. */
export function objectPrefix(run: RunKey): string {
  return `${RUNS_PREFIX}${run.tenant}/${run.run_id}/`
}

/** The key of the object that holds an extent of this run. */
export function objectKey(
  run: RunKey,
  start: number,
  extent: Pick<Extent, 'length' | 'hash' | 'sweep'>,
): string {
  return extentKey(objectPrefix(run), start, extent)
}

/** Of an extent of whatever archive has this prefix (session-keys.ts). */
export function extentKey(
  prefix: string,
  start: number,
  { sweep, length, hash }: Pick<Extent, 'length' | 'hash' | 'sweep'>,
): string {
  return `${prefix}${String(sweep).padStart(SWEEP_DIGITS, '0')}-${extentName(start)}-${length}-${hash}`
}

/** What the key of an extent's object tells. */
export interface ObjectPlace {
  readonly sweep: number
  readonly start: number
  readonly length: number
  readonly hash: string
}

const PLACE = /^(\d{10,16})-(\d{16})-(\d{1,16})-([ux]?[0-9a-f]{15,16})$/

/** What `objectKey` wrote; undefined for any other object under the run's prefix. */
export function parseObjectKey(run: RunKey, key: string): ObjectPlace | undefined {
  const prefix = objectPrefix(run)
  const match = key.startsWith(prefix) ? PLACE.exec(key.slice(prefix.length)) : null
  if (!match) return undefined
  const [, sweep, start, length, hash] = match as unknown as [string, string, string, string, string]
  return { sweep: Number(sweep), start: Number(start), length: Number(length), hash }
}

/**
 * A merged extent of which parts were copied inside the storage has no hash of its bytes, since nobody saw them: it
 * carries `x` and 15 digits of the SHA-256 of its sources' lengths and hashes instead. A direct upload is stored before
 * anybody has seen its bytes: its object is named by `u` and 15 digits of the upload's own id.
 */
export function isHashOfBytes(hash: string): boolean {
  return !hash.startsWith('x') && !hash.startsWith('u')
}

/** @param upload_id in hex */
export function uploadHash(upload_id: string): string {
  return `u${upload_id.slice(0, HASH_DIGITS - 1)}`
}

/** The key of an object of snapshots. */
export function derivedKey(run: RunKey, place: DerivedPlace): string {
  const sweep = String(place.sweep).padStart(SWEEP_DIGITS, '0')
  const { life, seq, offset, stateBytes, indexBytes, hash } = place
  return `${objectPrefix(run)}snapshots-${sweep}-${life}-${seq}-${offset}-${stateBytes}-${indexBytes}-${hash}`
}

const DERIVED =
  /^snapshots-(\d{10,16})-(\d{1,16})-(\d{1,16})-(\d{1,16})-(\d{1,16})-(\d{1,16})-([0-9a-f]{16})$/

/** What `derivedKey` wrote; undefined for any other object under the run's prefix. */
export function parseDerivedKey(run: RunKey, key: string): DerivedPlace | undefined {
  const prefix = objectPrefix(run)
  const match = key.startsWith(prefix) ? DERIVED.exec(key.slice(prefix.length)) : null
  if (!match) return undefined
  const [sweep, life, seq, offset, stateBytes, indexBytes] = match.slice(1, 7).map(Number) as Six
  return { sweep, life, seq, offset, stateBytes, indexBytes, hash: match[7] as string }
}

type Six = [number, number, number, number, number, number]

// What a rebuild of the index goes by (manifest.ts):
//
//   runs/<tenant>/<run_id>/manifest-<life>-<tail>-<hash>       what the head said once
//   runs/<tenant>/<run_id>/ending-<life>-<epoch>-<hash>        somebody was about to end that life
//   runs/<tenant>/<run_id>/tombstone-<life>-<epoch>-<hash>     ended that life
//   runs/<tenant>/<run_id>/hold-<ms>                           nothing is swept before that time

export type NoteKind = 'manifest' | 'ending' | 'tombstone'

/** What the key of a note tells. */
export interface NotePlace {
  readonly kind: NoteKind
  readonly life: number
  /** The tail a manifest was written at; the epoch of a tombstone, made or meant. */
  readonly at: number
  readonly hash: string
}

/** The key of a manifest or of a marker of a tombstone. */
export function noteKey(run: RunKey, { kind, life, at, hash }: NotePlace): string {
  return `${objectPrefix(run)}${kind}-${padded(life)}-${padded(at)}-${hash}`
}

const NOTE = /^(manifest|ending|tombstone)-(\d{16})-(\d{16})-([0-9a-f]{16})$/

/** What `noteKey` wrote; undefined for any other object under the run's prefix. */
export function parseNoteKey(run: RunKey, key: string): NotePlace | undefined {
  const prefix = objectPrefix(run)
  const match = key.startsWith(prefix) ? NOTE.exec(key.slice(prefix.length)) : null
  if (!match) return undefined
  const [kind, life, at, hash] = match.slice(1) as [NoteKind, string, string, string]
  return { kind, life: Number(life), at: Number(at), hash }
}

/** @param until ms */
export function holdKey(run: RunKey, until: number): string {
  return `${objectPrefix(run)}hold-${padded(until)}`
}

/** Until when a hold lasts, ms. */
export function parseHoldKey(run: RunKey, key: string): number | undefined {
  const [, until] = /^hold-(\d{16})$/.exec(key.slice(objectPrefix(run).length)) ?? []
  return key.startsWith(objectPrefix(run)) && until !== undefined ? Number(until) : undefined
}

/** All objects of all runs. */
export const RUNS_PREFIX = 'runs/'

/** Whose object it is; undefined for keys that are none of ours. */
export function runOfKey(key: string): RunKey | undefined {
  const [, tenant, run_id] = /^runs\/([^/]+)\/([^/]+)\/[^/]+$/.exec(key) ?? []
  return tenant !== undefined && run_id !== undefined ? { tenant, run_id } : undefined
}
