import type { RunKey } from '../../schema/index.ts'
import { extentStart, type ObjectPlace, objectKey, objectPrefix, parseObjectKey } from '../keys.ts'
import type { Clock, Head, StoredObject, StorePorts } from '../ports.ts'
import { derivedGarbage, derivedNames } from './sweep-derived.ts'
import { heldUntil, markEnd, noteHead, staleNotes } from './sweep-notes.ts'

// DESIGN.md, "Sweep": the only code that deletes objects. A writer may have stored an object and not committed it yet, for
// hours; so before anything of the present generation goes the head's `sweep` is raised, which makes that commit fail.

/** Objects deleted by one call. */
const DELETE_AT_ONCE = 1000

export interface Garbage {
  readonly key: string
  /** The generation it was stored under. */
  readonly sweep: number
  /** When its grace is over, ms. */
  readonly free_at: number
}

export interface Swept {
  readonly removed: number
  /** Of what was removed. */
  readonly bytes: number
  /**
   * When all that waits now may go, ms; null when nothing waits. Not when the first of it may: a sweep lists every object
   * of the run, and of a busy one another object may go every moment.
   */
  readonly next_at: number | null
}

const NOTHING = { removed: 0, bytes: 0 } as const

/** Removes what the head does not name and no reader of an older head can still want. */
export async function sweep(ports: StorePorts, clock: Clock, run: RunKey, graceMs: number): Promise<Swept> {
  const seen = await ports.index.head(run)
  if (!seen) return { ...NOTHING, next_at: null }
  const listed: StoredObject[] = []
  for await (const object of ports.objects.list(objectPrefix(run))) listed.push(object)
  if (!seen.alive) await markEnd(ports, run, listed, seen)
  const now = clock.now()
  const held = heldUntil(run, listed, now)
  if (held !== undefined) return { ...NOTHING, next_at: held }
  const garbage = await garbageOf(ports, run, seen, listed, graceMs)
  const free = garbage.filter(({ free_at }) => free_at <= now)
  const waiting = garbage.filter(({ free_at }) => free_at > now)
  const old = now - graceMs
  // The notes of a life that has ended wait, too.
  const due = seen.alive || seen.changed_at <= old ? [] : [seen.changed_at + graceMs]
  const times = [...due, ...waiting.map(({ free_at }) => free_at)]
  const next_at = times.length > 0 ? Math.max(...times) : null
  if (free.length === 0 && staleNotes(run, listed, seen, old).length === 0) return { ...NOTHING, next_at }

  if (free.some((object) => object.sweep >= seen.sweep)) {
    const expect = { life: seen.life, sweep: seen.sweep }
    if (!(await ports.index.commit(run, expect, { set: { sweep: seen.sweep + 1 } }))) {
      return { ...NOTHING, next_at: now }
    }
  }
  // From here on nothing of an older generation can become named; what is named now is kept.
  const head = await ports.index.head(run)
  if (!head) return { ...NOTHING, next_at: null }
  const named = await namesOf(ports, run, head)
  const doomed = free.filter(({ key, sweep }) => sweep < head.sweep && !named.has(key)).map(({ key }) => key)
  const replaced = doomed.length > 0 && head.alive ? await noteHead(ports, run, listed, head) : []
  const gone = [...doomed, ...new Set([...replaced, ...staleNotes(run, listed, head, old)])]
  for (let at = 0; at < gone.length; at += DELETE_AT_ONCE) {
    await ports.objects.remove(gone.slice(at, at + DELETE_AT_ONCE))
  }
  const isDoomed = new Set(doomed)
  const bytes = listed.reduce((sum, { key, length }) => sum + (isDoomed.has(key) ? length : 0), 0)
  return { removed: doomed.length, bytes, next_at }
}

async function garbageOf(
  ports: StorePorts,
  run: RunKey,
  head: Head,
  listed: readonly StoredObject[],
  graceMs: number,
): Promise<Garbage[]> {
  const named = await namesOf(ports, run, head)
  const garbage: Garbage[] = []
  for (const { key, stored_at } of listed) {
    const place = named.has(key) ? undefined : parseObjectKey(run, key)
    if (!place) continue
    const free_at = unwantedSince(head, place, stored_at) + graceMs
    garbage.push({ key, sweep: place.sweep, free_at })
  }
  return [...garbage, ...derivedGarbage(run, head, listed, named, graceMs)]
}

/** Since when no newly planned read can name the object. */
function unwantedSince(head: Head, { start, length }: ObjectPlace, stored_at: number): number {
  if (!head.alive) return head.changed_at
  let since = Math.max(stored_at, head.created_at)
  for (const [name, extent] of Object.entries(head.extents)) {
    const from = extentStart(name)
    const isOverlapping = from < start + length && start < from + extent.length
    if (isOverlapping) since = Math.max(since, extent.at)
  }
  return since
}

async function namesOf(ports: StorePorts, run: RunKey, head: Head): Promise<Set<string>> {
  const extents = Object.entries(head.extents)
  return new Set([
    ...extents.map(([name, extent]) => objectKey(run, extentStart(name), extent)),
    ...(await derivedNames(ports, run, head)),
  ])
}
