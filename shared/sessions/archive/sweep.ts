import { loadDigest } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import { extentKey, extentStart } from '../../store/keys.ts'
import type { DerivedPointer, Extents, FileItem, SessionHead } from '../../store/ports.ts'
import {
  derivedPrefix,
  filePrefix,
  generationPrefix,
  placeOfObject,
  type SessionObjectPlace,
  sessionPrefix,
} from '../../store/session-keys.ts'
import { changeFile, changeHead, successor } from './items.ts'
import type { SessionParts } from './parts.ts'

// The only code that deletes what a head or a file may have named (DESIGN.md, "Sweep"). A writer may have stored an object and
// not committed it yet, for hours; so before anything of the present generation goes the `sweep` of the item that would
// name it is raised, which makes that commit fail. Of a former life nothing is acknowledged, so it needs no such care.

const DELETE_AT_ONCE = 1000

/** What names objects now: the head, and the files of its life by their prefixes. */
interface Naming {
  readonly head: SessionHead
  readonly files: ReadonlyMap<string, { readonly path: string; readonly file: FileItem }>
  readonly names: ReadonlySet<string>
}

interface Found {
  readonly key: string
  readonly place: SessionObjectPlace
  readonly stored_at: number
}

/** @returns when what waits now may go, ms; null when nothing waits */
export async function sweepSession(
  parts: SessionParts,
  session: SessionKey,
  graceMs: number,
): Promise<number | null> {
  await loadDigest()
  const seen = await namingOf(parts, session)
  if (!seen) return null
  const found: Found[] = []
  for await (const { key, stored_at } of parts.ports.objects.list(sessionPrefix(session))) {
    const place = placeOfObject(session, key)
    if (place) found.push({ key, place, stored_at })
  }
  const now = parts.clock.now()
  const unnamed = found.filter(({ key }) => !seen.names.has(key))
  const times = timesOf(found)
  const free = new Map(unnamed.map((object) => [object, unwantedSince(seen, object, times) + graceMs]))
  const doomed = unnamed.filter((object) => (free.get(object) as number) <= now)
  if (doomed.length > 0) {
    for (const object of doomed) await fence(parts, session, seen, object.place)
    const after = await namingOf(parts, session)
    const gone = new Set(
      doomed.filter(({ key, place }) => after && !after.names.has(key) && isFenced(after, place)),
    )
    const left = found.filter((object) => !gone.has(object))
    const marks = [...gone].filter(({ place }) => place.kind === 'ended')
    await removeAll(
      parts,
      [...gone].filter(({ place }) => place.kind !== 'ended'),
    )
    await removeAll(
      parts,
      marks.filter((mark) => !isWanted(seen, mark, left)),
    )
  }
  const waiting = [...free.values()].filter((at) => at > now)
  return waiting.length > 0 ? Math.max(...waiting) : null
}

/** The mark of a deletion goes after everything else of its life, lest that came back with a rebuild. */
function isWanted({ head }: Naming, { place: { kind, life } }: Found, found: readonly Found[]): boolean {
  if (kind !== 'ended' || (head.alive && life === head.life)) return false
  return found.some(({ place }) => place.life === life && place.kind !== 'ended')
}

async function namingOf(parts: SessionParts, session: SessionKey): Promise<Naming | undefined> {
  const { sessions } = parts.ports
  const head = await sessions.head(session)
  if (!head) return undefined
  const files = new Map<string, { path: string; file: FileItem }>()
  const names = new Set<string>()
  if (!head.alive) return { head, files, names }
  const { life } = head
  const name = (path: string, { generation, extents }: { generation: number; extents: Extents }) => {
    const prefix = generationPrefix(session, { life, path }, generation)
    for (const [at, extent] of Object.entries(extents)) names.add(extentKey(prefix, extentStart(at), extent))
  }
  for (const key of keysOf(head.derived)) names.add(key)
  for await (const { path, file } of sessions.files(session, life)) {
    files.set(filePrefix(session, { life, path }), { path, file })
    files.set(derivedPrefix(session, life, path), { path, file })
    name(path, file)
    for (const key of keysOf(file.derived)) names.add(key)
  }
  for await (const { path, closed } of sessions.closedGenerations(session, life)) {
    // Of one that its file has not gone past, the file itself knows better.
    const current = files.get(filePrefix(session, { life, path }))?.file.generation ?? 0
    if (closed.generation < current) name(path, closed)
  }
  return { head, files, names }
}

function keysOf(pointer: DerivedPointer | null): string[] {
  const { document, state } = pointer ?? {}
  return [document?.key, document?.state, state?.key].filter((key) => typeof key === 'string')
}

/** Since when nobody who looks anew can be led to the object. */
function unwantedSince({ head, files }: Naming, object: Found, times: Times): number {
  const { place, stored_at } = object
  if (!head.alive) return Math.max(stored_at, head.changed_at)
  if (place.life !== head.life) return Math.max(stored_at, head.created_at)
  if (place.kind === 'ended') return stored_at // of a deletion that was not made after all
  if (place.kind === 'raw') return replacedAt(files.get(place.of)?.file, place, stored_at)
  // A document is in use until the next one of its transcript was stored, and a moment longer.
  return times.get(kindOf(place))?.find((at) => at > stored_at) ?? stored_at
}

/** When objects of one kind and one transcript were stored, in order. */
type Times = ReadonlyMap<string, readonly number[]>

const kindOf = ({ kind, of }: SessionObjectPlace) => `${kind} ${of}`

function timesOf(found: readonly Found[]): Times {
  const times = new Map<string, number[]>()
  for (const { place, stored_at } of found) {
    if (place.kind === 'raw' || place.kind === 'ended') continue
    const known = times.get(kindOf(place)) ?? []
    known.push(stored_at)
    times.set(kindOf(place), known)
  }
  for (const known of times.values()) known.sort((a, b) => a - b)
  return times
}

/** When extents that cover the same bytes were committed. */
function replacedAt(
  file: FileItem | undefined,
  { generation, start, length }: Extract<SessionObjectPlace, { kind: 'raw' }>,
  stored_at: number,
): number {
  if (file?.generation !== generation) return Math.max(stored_at, file?.first_at ?? 0)
  let since = stored_at
  for (const [name, extent] of Object.entries(file.extents)) {
    const from = extentStart(name)
    if (from < start + length && start < from + extent.length) since = Math.max(since, extent.at)
  }
  return since
}

/** Raises the generation under which an object of this place could still be committed. */
async function fence(
  parts: SessionParts,
  session: SessionKey,
  { head, files }: Naming,
  place: SessionObjectPlace,
): Promise<void> {
  if (!head.alive || place.life !== head.life || place.kind === 'ended') return
  const { life, of, kind, sweep } = place
  const named = files.get(of)
  if (named) {
    await changeFile(parts, session, { life, path: named.path }, (file) =>
      file && file.sweep <= sweep ? successor(file, { sweep: sweep + 1 }) : undefined,
    )
  } else if (kind !== 'raw') {
    await changeHead(parts, session, (now) =>
      now?.alive && now.life === life && now.sweep <= sweep
        ? successor(now, { sweep: sweep + 1 })
        : undefined,
    )
  }
}

/** Whether no commit can name an object of this place any more. A path is announced before its first object is stored. */
function isFenced({ head, files }: Naming, place: SessionObjectPlace): boolean {
  if (!head.alive || place.life !== head.life || place.kind === 'ended') return place.life <= head.life
  const { of, kind, sweep } = place
  const named = files.get(of)
  if (named) return sweep < named.file.sweep
  return kind === 'raw' || sweep < head.sweep
}

async function removeAll(parts: SessionParts, objects: readonly Found[]): Promise<void> {
  for (let at = 0; at < objects.length; at += DELETE_AT_ONCE) {
    await parts.ports.objects.remove(objects.slice(at, at + DELETE_AT_ONCE).map(({ key }) => key))
  }
}
