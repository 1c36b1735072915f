import type { RunKey, Transfer } from '../../schema/index.ts'
import { type ObjectPlace, parseDerivedKey, parseObjectKey } from '../keys.ts'
import type { Manifest } from '../maintain/manifest.ts'
import type { ObjectFacts, Objects, StoredObject } from '../ports.ts'
import { baseOf, begunAs, endOf, manifestsOf, type Note, namedIn, notesOf } from './notes.ts'

// What the objects of one run tell: its notes, and the facts beside every object.

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
  readonly life: number
  /** Whether a rebuild began another life since. */
  readonly isFormer: boolean
  /** Whether that life was ended. */
  readonly isDead: boolean
  /** The note of a deletion of that life that was begun, and may have been made as far as the objects tell. */
  readonly ending: string | undefined
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

/**
 * What the run's objects tell of its newest life; and as long as all that is known of one is that a rebuild began it, since it
 * had to cut the one before, of that one as well: what was missing then may be there again.
 *
 * @param listed all that stand under its prefix, in key order
 */
export async function* gather(
  objects: Objects,
  run: RunKey,
  listed: readonly StoredObject[],
): AsyncGenerator<Evidence> {
  const notes = await notesOf(objects, run, listed)
  let evidence = await gatherLife(objects, run, listed, notes, Number.POSITIVE_INFINITY)
  yield evidence
  while (isOnlyCut(notes, evidence)) {
    evidence = await gatherLife(objects, run, listed, notes, evidence.life)
    yield evidence
  }
}

/** Nothing was appended, and the sweep, which writes a manifest before it removes what a former life needs, has not begun. */
function isOnlyCut(notes: readonly Note[], { life, isDead, objects }: Evidence): boolean {
  const [cut, later] = manifestsOf(notes, life)
  return cut?.stopped !== undefined && !later && !isDead && !objects.some((object) => object.life === life)
}

/** Of the newest life before a later one. */
async function gatherLife(
  objects: Objects,
  run: RunKey,
  listed: readonly StoredObject[],
  notes: readonly Note[],
  before: number,
): Promise<Evidence> {
  const isBefore = ({ life = 0 }: { readonly life: number | undefined }) => life < before
  const noted = highest(notes.filter(isBefore).map(({ life }) => life))
  const base = baseOf(run, notes, noted, new Map(listed.map(({ key, length }) => [key, length])))
  const found = (await foundFrom(objects, run, listed, base?.head.tail ?? 0)).filter(isBefore)
  const life = Math.max(noted, 1, highest(found.map((object) => object.life ?? 0)))
  const isLater = life > noted
  const known = isLater ? undefined : base && begunAs(base, notes, found)
  const named = isLater ? new Set() : namedIn(run, notes, life)
  const isOf = (object: Found) => (object.life ?? life) === life || named.has(object.key)
  const ofLife = found.filter((object) => isOf(object) && canFollow(known, object))
  const heads = notes.map(({ manifest }) => manifest.head)
  return {
    run,
    life,
    isFormer: before < Number.POSITIVE_INFINITY,
    isDead: !isLater && endOf(notes, 'tombstone', life, ofLife) !== undefined,
    ending: isLater ? undefined : endOf(notes, 'ending', life, ofLife)?.key,
    base: known,
    farthest: isLater ? undefined : manifestsOf(notes, noted)[0]?.head,
    objects: ofLife,
    epoch: highest([life, ...heads.map((head) => head.epoch), ...found.map((object) => object.epoch)]),
    sweep: highest([...heads.map((head) => head.sweep), ...sweepsOf(run, listed)]),
  }
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

function sweepsOf(run: RunKey, listed: readonly StoredObject[]): number[] {
  return listed.flatMap(({ key }) => (parseObjectKey(run, key) ?? parseDerivedKey(run, key))?.sweep ?? [])
}

/** There may be more of them than a function takes arguments. */
export function highest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0)
}
