import type { RunKey } from '../schema/index.ts'
import type { Extent } from './ports.ts'

// Every object key is spelled here (DESIGN.md, "Archive = list of extents"):
//
//   runs/<tenant>/<run_id>/<sweep>-<start>-<length>-<hash>
//        a run's own prefix ┘        └ byte range     └ content
//
// The generation `sweep` is the head's when the object was stored. With range and hash in the key a retried put writes
// the same object again, and two writers never share a key with different bytes.

const SWEEP_DIGITS = 10
const START_DIGITS = 16

/** Hex digits of an extent's hash. */
export const HASH_DIGITS = 16

/** Extents are named by their zero-padded start, so that key order is archive order up to 2^53 − 1. */
export function extentName(start: number): string {
  return String(start).padStart(START_DIGITS, '0')
}

export function extentStart(name: string): number {
  return Number(name)
}

/** Everything stored for one run begins so; no run's prefix is the beginning of another's. */
export function objectPrefix(run: RunKey): string {
  return `runs/${run.tenant}/${run.run_id}/`
}

export function objectKey(
  run: RunKey,
  start: number,
  extent: Pick<Extent, 'length' | 'hash' | 'sweep'>,
): string {
  const sweep = String(extent.sweep).padStart(SWEEP_DIGITS, '0')
  return `${objectPrefix(run)}${sweep}-${extentName(start)}-${extent.length}-${extent.hash}`
}

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
