import { EMPTY_CARD } from '../../fold/index.ts'
import type { RunKey, Transfer } from '../../schema/index.ts'
import { NOTHING } from '../head.ts'
import {
  extentStart,
  type NotePlace,
  type ObjectPlace,
  objectKey,
  parseDerivedKey,
  parseNoteKey,
  parseObjectKey,
} from '../keys.ts'
import { type Manifest, readManifest } from '../maintain/manifest.ts'
import type { Head, ObjectFacts, Objects, StoredObject } from '../ports.ts'

// What the objects of one run tell: manifests of former heads, markers of tombstones, and facts beside every object.

/** Objects whose facts are asked for at once. */
const WIDTH = 16

/** An object with archive bytes, and what its writer knew. */
export interface Found extends ObjectPlace {
  readonly key: string
  readonly end: number
  readonly stored_at: number
  /** A merge copies what was committed; everything else may have been refused. */
  readonly isMerged: boolean
  readonly life: number | undefined
  readonly epoch: number
  /** Of the archive before it, as its writer saw the head. */
  readonly digestBefore: string | undefined
  /** Of a direct upload, as announced. */
  readonly sha256: string | undefined
  readonly created_at: number | undefined
  readonly holder: Transfer | undefined
}

/** All that a rebuild goes by for one run. */
export interface Evidence {
  readonly run: RunKey
  /** The newest life. */
  readonly life: number
  /** Whether that life was ended. */
  readonly isDead: boolean
  /** The newest manifest of that life of which every object is there. */
  readonly base: Manifest | undefined
  /** The farthest tail that a manifest of that life tells of, whether its objects are there or not. */
  readonly farthest: { readonly tail: number; readonly digest: string } | undefined
  /** Objects of that life at or past the base, in archive order. */
  readonly objects: readonly Found[]
  /** Highest numbers in anything that was found. */
  readonly epoch: number
  readonly sweep: number
}

interface Note extends NotePlace {
  readonly manifest: Manifest
}

/** What the run's objects tell; `listed` are all that stand under its prefix, in key order. */
export async function gather(
  objects: Objects,
  run: RunKey,
  listed: readonly StoredObject[],
): Promise<Evidence> {
  const notes = await notesOf(objects, run, listed)
  const lengths = new Map(listed.map(({ key, length }) => [key, length]))
  const noted = highest(notes.map(({ life }) => life))
  const base = baseOf(run, notes, noted, lengths)
  const from = base?.head.tail ?? 0
  const found = await foundFrom(objects, run, listed, from)
  const life = Math.max(noted, 1, highest(found.map((object) => object.life ?? 0)))
  const isLater = life > noted
  const known = isLater ? undefined : base && begunAs(base, notes, found)
  const ofLife = found.filter((object) => (object.life ?? life) === life && canFollow(known, object))
  const heads = notes.map(({ manifest }) => manifest.head)
  return {
    run,
    life,
    isDead: !isLater && isEnded(notes, life, ofLife),
    base: known,
    farthest: isLater ? undefined : manifestsOf(notes, noted)[0]?.head,
    objects: ofLife,
    epoch: highest([life, ...heads.map((head) => head.epoch), ...found.map((object) => object.epoch)]),
    sweep: highest([...heads.map((head) => head.sweep), ...sweepsOf(run, listed)]),
  }
}

async function notesOf(
  objects: Objects,
  run: RunKey,
  listed: readonly StoredObject[],
): Promise<readonly Note[]> {
  const notes: Note[] = []
  for (const { key } of listed) {
    const place = parseNoteKey(run, key)
    const manifest = place && (await readManifest(objects, { key, hash: place.hash }))
    if (manifest) notes.push({ ...place, manifest })
  }
  return notes
}

/**
 * Bytes below a tail never change within a life, so every manifest is true; the one with the most is the most useful. Where
 * none is left whole, what one says of the run itself still holds.
 */
function baseOf(
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
function manifestsOf(notes: readonly Note[], life: number): Manifest[] {
  const count = ({ head }: Manifest) => Object.keys(head.extents).length
  return notes
    .filter((note) => note.kind === 'manifest' && note.life === life)
    .map(({ manifest }) => manifest)
    .sort((a, b) => b.head.tail - a.head.tail || b.head.epoch - a.head.epoch || count(a) - count(b))
}

/** Two may have asked for the same new run; only one of them made it, and its writer knew which. */
function begunAs(base: Manifest, notes: readonly Note[], found: readonly Found[]): Manifest {
  const { life, tail } = base.head
  const created_at = tail > 0 ? undefined : found.find((object) => object.life === life)?.created_at
  const begun = notes.find(
    ({ manifest: { head } }) => head.life === life && head.tail === 0 && head.created_at === created_at,
  )
  return begun?.manifest ?? base
}

function emptied({ head, transfers }: Manifest): Manifest {
  const { holder, previous, requires, origin } = head
  const kept = { ...NOTHING, holder, previous, requires, origin, sweep: 0, extents: {} }
  return { head: { ...head, ...kept }, card: EMPTY_CARD, transfers }
}

async function foundFrom(
  objects: Objects,
  run: RunKey,
  listed: readonly StoredObject[],
  from: number,
): Promise<readonly Found[]> {
  const places = listed.flatMap((object) => {
    const place = parseObjectKey(run, object.key)
    return place && place.start >= from && place.length === object.length ? [{ ...object, ...place }] : []
  })
  const found: Found[] = []
  for (let at = 0; at < places.length; at += WIDTH) {
    const some = places.slice(at, at + WIDTH)
    const facts = await Promise.all(some.map(({ key }) => objects.facts(key)))
    for (const [i, place] of some.entries()) {
      found.push({ ...place, end: place.start + place.length, ...told(facts[i] ?? {}) })
    }
  }
  return found.sort((a, b) => a.start - b.start)
}

function told(facts: ObjectFacts) {
  const number = (name: string) => (facts[name] === undefined ? undefined : Number(facts[name]))
  const epoch = number('epoch') ?? 0
  return {
    isMerged: facts.merged !== undefined,
    life: number('life'),
    epoch,
    digestBefore: facts['digest-before'],
    sha256: facts.sha256,
    created_at: number('created'),
    holder: transferFrom(epoch, facts.holder),
  }
}

function transferFrom(epoch: number, text: string | undefined): Transfer | undefined {
  const [reason, from, machine_id, world_id] = text?.split(' ') ?? []
  if (!reason || !from || !machine_id || !world_id) return undefined
  return { epoch, machine_id, world_id, from, reason: reason as Transfer['reason'] }
}

/** What was stored under an older generation or epoch than a head had cannot be committed behind that head's tail. */
function canFollow(base: Manifest | undefined, { isMerged, sweep, epoch, start }: Found): boolean {
  if (!base) return true
  const { head } = base
  return sweep >= head.sweep && (isMerged || start > head.tail || epoch >= head.epoch || head.tail === 0)
}

/** An index that was set back to before a deletion lets the life go on, to higher numbers than that ended with. */
function isEnded(notes: readonly Note[], life: number, objects: readonly Found[]): boolean {
  const ends = notes.filter((note) => note.kind === 'tombstone' && note.life === life)
  const epoch = highest(ends.map(({ at }) => at))
  const sweep = highest(ends.map(({ manifest }) => manifest.head.sweep))
  const later = (head: Pick<Head, 'epoch' | 'sweep'>) => head.epoch >= epoch || head.sweep >= sweep
  const alive = notes.filter((note) => note.kind === 'manifest' && note.life === life)
  return ends.length > 0 && !alive.some(({ manifest }) => later(manifest.head)) && !objects.some(later)
}

function sweepsOf(run: RunKey, listed: readonly StoredObject[]): number[] {
  return listed.flatMap(({ key }) => (parseObjectKey(run, key) ?? parseDerivedKey(run, key))?.sweep ?? [])
}

/** There may be more of them than a function takes arguments. */
export function highest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0)
}
