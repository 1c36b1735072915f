import { digestOf, loadDigest } from '../../codec/index.ts'
import type { RunKey } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { applyChange, isLive } from '../head.ts'
import { extentStart, HASH_DIGITS, isHashOfBytes, objectKey } from '../keys.ts'
import type {
  Clock,
  ComposePart,
  Expectation,
  Extent,
  Head,
  HeadChange,
  Objects,
  StorePorts,
} from '../ports.ts'
import { damageAmong, damaged } from './damage.ts'
import { foldInHand } from './fold-in-hand.ts'
import { isWorthManifest, keepManifest } from './manifest.ts'
import { MIN_COPY_BYTES, type Piece } from './merge-policy.ts'
import { nextDue } from './schedule.ts'
import type { SnapshotPolicy } from './snapshot-policy.ts'

export interface MergeOptions {
  readonly graceMs: number
  readonly snapshots: SnapshotPolicy
}

/**
 * Makes one object of adjacent extents and swaps it in, with snapshots of what it holds where the bytes came by anyway. False
 * when someone else was quicker; its objects are then left to the sweep, as are those that it replaces. Neither the tail nor
 * the epoch is compared, so an append and a merge never hinder each other.
 *
 * @throws internal with `offset` and `length` of an extent that is damaged
 */
export async function merge(
  ports: StorePorts,
  clock: Clock,
  run: RunKey,
  head: Head,
  pieces: readonly Piece[],
  { graceMs, snapshots }: MergeOptions,
): Promise<boolean> {
  const { objects, index } = ports
  const sources = pieces.map(({ name }) => sourceOf(run, head, name))
  const [first, last] = [sources[0], sources.at(-1)]
  if (!first || !last || first === last) return false
  await loadDigest()
  const length = sources.reduce((sum, { extent }) => sum + extent.length, 0)
  const facts = { life: String(head.life), offset: String(first.start), merged: String(sources.length) }
  let parts: readonly ComposePart[]
  let merged: Omit<Extent, 'at'>
  try {
    parts = await partsOf(objects, sources)
    merged = { length, hash: hashOf(sources, parts), sweep: head.sweep }
    await objects.compose(objectKey(run, first.start, merged), parts, facts)
  } catch (error) {
    // Merged and swept by someone else meanwhile, unless the head still names it: then it is lost (P7).
    const isGone = isRunfoldError(error, 'not_found') && !areNamed(sources, await index.head(run))
    if (isGone) return false
    throw await damageAmong(objects, sources, error)
  }
  // Whatever stands between these two was made of extents that begin where ours do, so dropping by start drops it too.
  const expect = {
    alive: true,
    life: head.life,
    sweep: head.sweep,
    extents: { [first.name]: first.extent, [last.name]: last.extent },
  }
  const now = clock.now()
  const add = { [first.name]: { ...merged, at: now } }
  const change = {
    set: { sweep_at: head.sweep_at ?? now + graceMs },
    drop: pieces.map(({ name }) => name),
    add,
  }
  const snapshot = await foldInHand(ports, run, applyChange(head, change), first.start, parts, snapshots)
  const told = snapshot ? { ...change, set: { ...change.set, snapshot } } : change
  if (!(await commitMerge(ports, run, head, expect, told, now))) return false
  if (isWorthManifest(head, merged)) await keepManifest(ports, run, applyChange(head, told))
  return true
}

/**
 * With it goes the time at which the run is due next, which would otherwise cost a commit of its own. Only a held run, which stays
 * due: an append that comes meanwhile finds by itself whether it is due earlier, and the end of the lease comes anyway.
 */
async function commitMerge(
  { index }: StorePorts,
  run: RunKey,
  head: Head,
  expect: Expectation,
  change: HeadChange,
  now: number,
): Promise<boolean> {
  const after = applyChange(head, change)
  const due_at = isLive(head.lease, now) ? nextDue(after, now, after.sweep_at) : head.due_at
  if (due_at !== head.due_at) {
    const due = { ...change, set: { ...change.set, due_at } }
    if (await index.commit(run, { ...expect, due_at: head.due_at }, due)) return true
  }
  return index.commit(run, expect, change)
}

function areNamed(sources: readonly Source[], head: Head | undefined): boolean {
  return sources.every(({ name, extent }) => head?.extents[name]?.hash === extent.hash)
}

export interface Source {
  readonly name: string
  readonly start: number
  readonly extent: Extent
  readonly key: string
}

export function sourceOf(run: RunKey, head: Head, name: string): Source {
  const extent = head.extents[name]
  if (!extent) throw new RunfoldError('internal', 'a merge names an extent that the head does not')
  const start = extentStart(name)
  return { name, start, extent, key: objectKey(run, start, extent) }
}

/** Large extents are copied inside the storage, smaller ones come by here; how they are cut into parts is the adapter's. */
export async function partsOf(objects: Objects, sources: readonly Source[]): Promise<ComposePart[]> {
  const parts: ComposePart[] = []
  for (const source of sources) {
    const { length } = source.extent
    const isLarge = length >= MIN_COPY_BYTES
    parts.push(
      isLarge
        ? { copy: source.key, range: { start: 0, end: length } }
        : { bytes: await readSource(objects, source) },
    )
  }
  return parts
}

/** Damage must not be merged under a new hash that fits it. */
export async function readSource(objects: Objects, { key, start, extent }: Source): Promise<Uint8Array> {
  const { length, hash } = extent
  const bytes = await objects.get(key, { start: 0, end: length }).catch((error: unknown) => {
    throw isRunfoldError(error, 'internal') ? damaged(start, length, 'cannot be read', error) : error
  })
  if (!bytes) {
    const range = `archive bytes ${start} to ${start + length}`
    throw new RunfoldError('not_found', `${range} are gone`, { offset: start, length })
  }
  if (!isHashOfBytes(hash) || digestOf(bytes).startsWith(hash)) return bytes
  throw damaged(start, length, 'are not what was stored')
}

/** Of the bytes where all of them came by, else of what is known of the sources (keys.ts). */
export function hashOf(sources: readonly Source[], parts: readonly ComposePart[]): string {
  const bytes = parts.flatMap((part) => ('bytes' in part ? [part.bytes] : []))
  if (bytes.length === parts.length) return digestOf(...bytes).slice(0, HASH_DIGITS)
  const known = sources.map(({ extent }) => `${extent.length}:${extent.hash}`).join('\n')
  return `x${digestOf(new TextEncoder().encode(known)).slice(0, HASH_DIGITS - 1)}`
}
