import { digestOf, jsonBytes, loadDigest, parseJson } from '../../codec/index.ts'
import type { RunCard } from '../../fold/index.ts'
import { EMPTY_CARD } from '../../fold/index.ts'
import { LEASE_HISTORY_MAX, type RunKey, type Transfer } from '../../schema/index.ts'
import { currentCard } from '../card-row.ts'
import { HASH_DIGITS, type NoteKind, noteKey } from '../keys.ts'
import type { ByteRange, Head, Objects, StorePorts } from '../ports.ts'

// DESIGN.md, "Rebuild": what the index knows of a run stands now and then beside its objects too, so that they alone can
// give it back. A manifest is a true copy of the head at some moment of a life: all it names was committed then. One is
// written before a life begins and before anything it would need is deleted; a large merge and one that leaves a single
// object write one as well, which makes a rebuild quick and the end of a run certain. A tombstone
// has two markers, since neither tells all: one precedes it, and the deletion may then not have been made; the other is written
// when it was made, before that is acknowledged.

/** How a manifest is spelled; one of a version that is not known is passed over for an older one. */
const VERSION = 1
/** A merge whose object is so large is worth a manifest. */
const LARGE_BYTES = 64 * 1024 * 1024

export interface Manifest {
  readonly head: Head
  /** As of the head. */
  readonly card: RunCard
  /** Holders before the present one, newest first. */
  readonly transfers: readonly Transfer[]
  /** Of a life that a rebuild began, since it could not give all of the one before back. */
  readonly stopped?: Stopped
}

/** Why a rebuilt archive ends where it does, other than that it ended there. */
export interface Stopped {
  /** Keys of objects at its tail of which one may have been committed. */
  readonly undecided: readonly string[]
  /** Archive bytes that were committed and cannot be found. */
  readonly lost: ByteRange | null
}

/** Writes down what the index says of a living run now. @returns the manifest's key */
export async function keepManifest(ports: StorePorts, run: RunKey, head: Head): Promise<string> {
  const card = await currentCard(ports, run, head)
  // Who was never replaced has nobody before it, and need not be asked for; a life that a rebuild began may have.
  const isFirst = head.epoch === head.life && head.previous === null
  const transfers = isFirst ? [] : await ports.index.transfers(run, LEASE_HISTORY_MAX)
  return put(ports.objects, run, 'manifest', { head, card, transfers })
}

/** Of a life that is about to begin, or of a tombstone that was made. @returns its key */
export function announce(
  objects: Objects,
  run: RunKey,
  head: Head,
  more: Partial<Manifest> = {},
): Promise<string> {
  const kind = head.alive ? 'manifest' : 'tombstone'
  return put(objects, run, kind, { card: EMPTY_CARD, transfers: [], ...more, head })
}

/** Of a deletion that is about to be made. @param head the tombstone it is to leave @returns its key */
export function announceEnding(objects: Objects, run: RunKey, head: Head): Promise<string> {
  return put(objects, run, 'ending', { head, card: EMPTY_CARD, transfers: [] })
}

export function isWorthManifest(head: Head, merged: { readonly length: number }): boolean {
  return merged.length >= LARGE_BYTES || merged.length === head.tail
}

async function put(objects: Objects, run: RunKey, kind: NoteKind, manifest: Manifest): Promise<string> {
  await loadDigest()
  const bytes = jsonBytes({ version: VERSION, ...manifest })
  const { life, epoch, tail } = manifest.head
  const at = kind === 'manifest' ? tail : epoch
  const key = noteKey(run, { kind, life, at, hash: digestOf(bytes).slice(0, HASH_DIGITS) })
  await objects.put(key, [bytes], { life: String(life), epoch: String(epoch) })
  return key
}

/** Undefined where it is gone, damaged, or of a later version of this program. */
export async function readManifest(
  objects: Objects,
  { key, hash }: { readonly key: string; readonly hash: string },
): Promise<Manifest | undefined> {
  await loadDigest()
  const bytes = await objects.get(key)
  if (!bytes || !digestOf(bytes).startsWith(hash)) return undefined
  const { version, ...manifest } = parseJson(bytes) as unknown as Manifest & { readonly version: number }
  return version === VERSION ? manifest : undefined
}
