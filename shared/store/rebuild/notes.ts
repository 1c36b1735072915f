import { EMPTY_CARD } from '../../fold/index.ts'
import type { RunKey } from '../../schema/index.ts'
import { NOTHING } from '../head.ts'
import { extentStart, type NotePlace, objectKey, parseNoteKey } from '../keys.ts'
import { type Manifest, readManifest } from '../maintain/manifest.ts'
import type { Head, Objects, StoredObject } from '../ports.ts'
import type { Found } from './evidence.ts'

// What the notes of a run tell: manifests of former heads, and the markers of deletions that were made or meant.

export interface Note extends NotePlace {
  readonly key: string
  readonly manifest: Manifest
}

/** All that can be read, in key order. */
export async function notesOf(
  objects: Objects,
  run: RunKey,
  listed: readonly StoredObject[],
): Promise<readonly Note[]> {
  const notes: Note[] = []
  for (const { key } of listed) {
    const place = parseNoteKey(run, key)
    const manifest = place && (await readManifest(objects, { key, hash: place.hash }))
    if (manifest) notes.push({ ...place, key, manifest })
  }
  return notes
}

/**
 * Bytes below a tail never change within a life, so every manifest is true; the one with the most is the most useful. Where
 * none is left whole, what one says of the run itself still holds.
 */
export function baseOf(
  run: RunKey,
  notes: readonly Note[],
  life: number,
  lengths: ReadonlyMap<string, number>,
): Manifest | undefined {
  const isThere = ({ head }: Manifest) =>
    Object.entries(head.extents).every(
      ([name, extent]) => lengths.get(objectKey(run, extentStart(name), extent)) === extent.length,
    )
  const ofLife = manifestsOf(notes, life)
  return ofLife.find(isThere) ?? (ofLife[0] && emptied(ofLife[0]))
}

/** The one that tells of the most bytes first. */
export function manifestsOf(notes: readonly Note[], life: number): Manifest[] {
  const count = ({ head }: Manifest) => Object.keys(head.extents).length
  return notes
    .filter((note) => note.kind === 'manifest' && note.life === life)
    .map(({ manifest }) => manifest)
    .sort((a, b) => b.head.tail - a.head.tail || b.head.epoch - a.head.epoch || count(a) - count(b))
}

/** Keys of what a life began with: where a rebuild began it, objects that were stored for the life before. */
export function namedIn(run: RunKey, notes: readonly Note[], life: number): ReadonlySet<string> {
  const extents = manifestsOf(notes, life).flatMap(({ head }) => Object.entries(head.extents))
  return new Set(extents.map(([name, extent]) => objectKey(run, extentStart(name), extent)))
}

/** Two may have asked for the same new run; only one of them made it, and its writer knew which. */
export function begunAs(base: Manifest, notes: readonly Note[], found: readonly Found[]): Manifest {
  const { life, tail } = base.head
  const created_at = tail > 0 ? undefined : found.find((object) => object.life === life)?.created_at
  const begun = manifestsOf(notes, life).find(({ head }) => head.tail === 0 && head.created_at === created_at)
  return begun ?? base
}

function emptied({ head, transfers }: Manifest): Manifest {
  const { holder, previous, requires, origin } = head
  const kept = { ...NOTHING, holder, previous, requires, origin, sweep: 0, extents: {} }
  return { head: { ...head, ...kept }, card: EMPTY_CARD, transfers }
}

type Numbers = Pick<Head, 'epoch' | 'sweep'>

/**
 * The newest marker of this kind, unless the life went on behind it. An index that was set back to before a deletion lets it, to
 * higher numbers than that ended with; so does a deletion that was not made.
 */
export function endOf(
  notes: readonly Note[],
  kind: 'ending' | 'tombstone',
  life: number,
  objects: readonly Found[],
): Note | undefined {
  const ofLife = notes.filter((note) => note.life === life)
  const [newest, ...others] = ofLife.filter((note) => note.kind === kind).sort((a, b) => b.at - a.at)
  if (!newest) return undefined
  const { epoch } = newest.manifest.head
  const sweep = Math.max(...[newest, ...others].map(({ manifest }) => manifest.head.sweep))
  const isLater = (numbers: Numbers) => numbers.epoch >= epoch || numbers.sweep >= sweep
  return ofLife.flatMap(livedAt).some(isLater) || objects.some(isLater) ? undefined : newest
}

/** Of the living head that a note tells of; who was about to delete a run saw the head before. */
function livedAt({ kind, manifest: { head } }: Note): Numbers[] {
  if (kind === 'tombstone') return []
  return kind === 'manifest' ? [head] : [{ epoch: head.epoch - 1, sweep: head.sweep - 1 }]
}
