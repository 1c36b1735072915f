import { loadDigest } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import { HARNESSES, RunfoldError } from '../../schema/index.ts'
import type { FileItem, SessionHead, StoredObject } from '../../store/ports.ts'
import {
  parseSessionPath,
  placeOfObject,
  SESSIONS_PREFIX,
  type SessionObjectPlace,
} from '../../store/session-keys.ts'
import { type Chain, type FoundExtent, followExtents } from './chain.ts'
import { nameOf } from './facts.ts'
import { closing } from './file.ts'
import type { SessionParts } from './parts.ts'

// DESIGN.md, "Rebuild", for sessions: the index from the objects of raw files alone. Sessions that the index knows are left as
// they are, so it may be broken off and begun again. Nobody may write meanwhile. Documents and entries are derived afterwards. A
// generation without bytes leaves no object, and is as if it had never begun.

/** For so long nothing of a rebuilt session is swept: time to look at what was kept aside, or to think again. */
const HOLD_MS = 7 * 86_400_000

export interface RebuiltSession {
  readonly session: SessionKey
  /** `known`: the index had it already. */
  readonly outcome: 'rebuilt' | 'deleted' | 'known'
  readonly files: number
  readonly bytes: number
  /** Files whose end cannot be told, or of which committed bytes are lost. */
  readonly damaged: readonly { readonly path: string; readonly generation: number; readonly tail: number }[]
}

export interface FailedSession {
  readonly session: SessionKey
  readonly outcome: 'failed'
  readonly error: unknown
}

/** Gives every session of the bucket back to the index, one after the other. */
export async function* rebuildSessions(parts: SessionParts): AsyncGenerator<RebuiltSession | FailedSession> {
  await loadDigest()
  for await (const [session, listed] of sessionsIn(parts)) {
    try {
      yield await rebuildSession(parts, session, listed)
    } catch (error) {
      yield { session, outcome: 'failed', error }
    }
  }
}

/** Whether the objects hold files of sessions while the index knows of no session, not even a deleted one. */
export async function areSessionsLost(parts: Pick<SessionParts, 'ports'>): Promise<boolean> {
  const { sessions, objects } = parts.ports
  if ((await sessions.everySession(undefined, 1)).length > 0) return false
  for await (const { key } of objects.list(SESSIONS_PREFIX)) if (key.includes('/files/')) return true
  return false
}

/** Keys of one session stand together. */
async function* sessionsIn({
  ports: { objects },
}: SessionParts): AsyncGenerator<readonly [SessionKey, readonly StoredObject[]]> {
  let prefix: string | undefined
  let listed: StoredObject[] = []
  for await (const object of objects.list(SESSIONS_PREFIX)) {
    const own = parseSessionPath(object.key)?.prefix
    if (own !== prefix) {
      yield* named(listed)
      listed = []
      prefix = own
    }
    if (own !== undefined) listed.push(object)
  }
  yield* named(listed)

  async function* named(found: readonly StoredObject[]) {
    const raw = found.find(({ key }) => key.includes('/files/'))
    const path = raw && parseSessionPath(raw.key)
    const harness = HARNESSES.find((known) => known === path?.harness)
    if (!raw || !path || !harness) return
    const id = nameOf(path.id, (await objects.facts(raw.key))?.id)
    if (id === undefined) return
    const { tenant, machine } = path
    yield [{ tenant, machine, harness, id }, found] as const
  }
}

async function rebuildSession(
  parts: SessionParts,
  session: SessionKey,
  listed: readonly StoredObject[],
): Promise<RebuiltSession> {
  const { sessions } = parts.ports
  const nothing = { session, files: 0, bytes: 0, damaged: [] }
  if (await sessions.head(session)) return { ...nothing, outcome: 'known' }
  const found = listed.flatMap(({ key, stored_at }) => {
    const place = placeOfObject(session, key)
    return place ? [{ key, stored_at, place }] : []
  })
  const life = Math.max(...found.map(({ place }) => place.life))
  const own = found.filter(({ place }) => place.life === life)
  const head = rebuiltHead(life, own, parts.clock.now())
  if (own.some(({ place }) => place.kind === 'ended')) {
    await sessions.putHead(session, { ...head, alive: false, archived_at: null, listed_at: null })
    return { ...nothing, outcome: 'deleted' }
  }
  const damaged: RebuiltSession['damaged'][number][] = []
  let bytes = 0
  let raw_bytes = 0
  const files = filesIn(own)
  for (const [prefix, generations] of files) {
    const path = await pathOf(parts, prefix, generations)
    if (path === undefined) throw new RunfoldError('internal', `the name of a file is lost: ${prefix}`)
    const newest = Math.max(...generations.keys())
    for (const [generation, extents] of generations) {
      const chain = await followExtents(parts.ports.objects, extents)
      const item = rebuiltFile(generation, chain, extents, head.sweep)
      if (generation === newest) await sessions.putFile(session, { life, path }, item)
      else await sessions.putClosed(session, { life, path }, closing(item))
      if (chain.isTorn || chain.undecided.length > 0) damaged.push({ path, generation, tail: chain.tail })
      bytes += chain.tail
      if (generation === newest) raw_bytes += chain.tail
    }
  }
  await sessions.putHead(session, {
    ...head,
    file_count: files.size,
    raw_bytes,
    pending: Math.max(1, raw_bytes),
  })
  return { session, outcome: 'rebuilt', files: files.size, bytes, damaged }
}

type Found = { readonly key: string; readonly stored_at: number; readonly place: SessionObjectPlace }

/** Alive and due, so that it is derived; what is not named stays for a week. */
function rebuiltHead(life: number, found: readonly Found[], now: number): SessionHead {
  const archived_at = Math.max(...found.map(({ stored_at }) => stored_at))
  const sweep = 1 + Math.max(...found.map(({ place }) => ('sweep' in place ? place.sweep : 0)))
  return {
    ...{ version: 1, life, alive: true, revision: 1, sweep, archived_at, listed_at: archived_at },
    ...{ created_at: now, changed_at: now, due_at: now, sweep_at: now + HOLD_MS },
    ...{ derived: null, entry: null, file_count: 0, raw_bytes: 0, pending: 1 },
  }
}

/** Extents by the prefix of their file, then by generation. */
function filesIn(found: readonly Found[]): Map<string, Map<number, FoundExtent[]>> {
  const files = new Map<string, Map<number, FoundExtent[]>>()
  for (const { key, stored_at, place } of found) {
    if (place.kind !== 'raw') continue
    const { of, generation, start, length, hash, sweep } = place
    const generations = files.get(of) ?? new Map<number, FoundExtent[]>()
    const extents = generations.get(generation) ?? []
    extents.push({ key, stored_at, start, length, hash, sweep })
    files.set(of, generations.set(generation, extents))
  }
  return files
}

async function pathOf(
  { ports: { objects } }: SessionParts,
  prefix: string,
  generations: ReadonlyMap<number, readonly FoundExtent[]>,
): Promise<string | undefined> {
  const segment = prefix.slice(0, -1).split('/').at(-1) ?? ''
  const plain = nameOf(segment, undefined)
  if (plain !== undefined) return plain
  const [extent] = [...generations.values()].flat()
  return nameOf(segment, extent && (await objects.facts(extent.key))?.path)
}

function rebuiltFile(
  generation: number,
  chain: Chain,
  extents: readonly FoundExtent[],
  sweep: number,
): FileItem {
  const { tail, digest, hash_state } = chain
  const times = extents.map(({ stored_at }) => stored_at)
  return {
    ...{ version: 1, generation, sweep, tail, digest, hash_state, extents: chain.extents, derived: null },
    ...{ first_at: Math.min(...times), last_at: Math.max(...times) },
  }
}
