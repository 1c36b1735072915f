import type { RunKey } from '../../schema/index.ts'
import { type NotePlace, parseHoldKey, parseNoteKey } from '../keys.ts'
import type { Head, StoredObject, StorePorts } from '../ports.ts'
import { announce, keepManifest } from './manifest.ts'

// What the sweep has to do with manifests: before objects go that an older one needs there must be one that does not need
// them, and of the older ones and of former lives nothing is to stay.

interface Note extends NotePlace {
  readonly key: string
  readonly stored_at: number
}

function notesIn(run: RunKey, listed: readonly StoredObject[]): Note[] {
  return listed.flatMap(({ key, stored_at }) => {
    const place = parseNoteKey(run, key)
    return place ? [{ ...place, key, stored_at }] : []
  })
}

/** Until when a rebuild wants nothing swept, ms; undefined when nothing is held at `now`. */
export function heldUntil(run: RunKey, listed: readonly StoredObject[], now: number): number | undefined {
  return listed.map(({ key }) => parseHoldKey(run, key)).find((until) => until !== undefined && until > now)
}

/** Notes of former lives, of a life that has ended, and of deletions that were not made or before which the index was set back. */
export function staleNotes(
  run: RunKey,
  listed: readonly StoredObject[],
  head: Head,
  old: number,
): readonly string[] {
  const isStale = ({ kind, life, at, stored_at }: Note) => {
    if (life !== head.life) return life < head.life
    if (head.alive) return kind !== 'manifest' && stored_at <= old
    // Readers of the storage have the same grace for these as for the objects of the life that has ended.
    return head.changed_at <= old && (kind !== 'tombstone' || at < head.epoch)
  }
  const notes = notesIn(run, listed).filter(isStale)
  const holds = listed.filter(({ key }) => parseHoldKey(run, key) !== undefined)
  return [...notes, ...holds].map(({ key }) => key)
}

/** Marks a tombstone whose maker did not come to it. */
export async function markEnd(
  { objects }: Pick<StorePorts, 'objects'>,
  run: RunKey,
  listed: readonly StoredObject[],
  { life, epoch, ...head }: Head,
): Promise<void> {
  const isMark = (note: Note) => note.kind === 'tombstone' && note.life === life && note.at === epoch
  if (!notesIn(run, listed).some(isMark)) await announce(objects, run, { ...head, life, epoch })
}

/** Makes sure that a rebuild needs nothing but what a living head names. @returns the manifests that are superfluous then */
export async function noteHead(
  ports: StorePorts,
  run: RunKey,
  listed: readonly StoredObject[],
  head: Head,
): Promise<readonly string[]> {
  const notes = notesIn(run, listed).filter(({ life }) => life === head.life)
  const written = await keepManifest(ports, run, head)
  return notes.filter(({ kind, key }) => kind === 'manifest' && key !== written).map(({ key }) => key)
}
