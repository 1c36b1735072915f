import { join } from 'node:path'
import type { Harness } from '#schema'
import { type FoundSession, findSessions, homesOf, type KnownNames, type Unread } from './find.ts'
import { Outage } from './outage.ts'
import { isSameIdentity, lookAt } from './source-file.ts'
import type { SyncStates } from './states.ts'
import { type SyncedSession, syncSession } from './sync-session.ts'
import type { Syncing } from './syncing.ts'

/** Sessions sent side by side; each may hold one request. */
const WIDTH = 4

export interface SyncScope {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Only these; all where it is left out. */
  readonly harnesses?: readonly Harness[] | undefined
  /** Says whether a session is wanted; all are where it is left out. */
  readonly wants?: ((session: FoundSession) => Promise<boolean>) | undefined
}

export interface SyncEvents {
  /** @param homes the folders they were looked for in */
  found?(sessions: readonly FoundSession[], homes: readonly string[]): void
  /** A home that is there and has no session: stores move without notice. */
  empty?(harness: Harness, folder: string): void
  unread?(what: Unread): void
  /** Nothing of this pass is remembered: the next one reads every file again. */
  forgetful?(reason: string): void
  /** A watch cannot reach the server, and waits for it. */
  away?(reason: string): void
  synced(session: SyncedSession): void
}

/** One pass over all sessions of this machine. What goes wrong with one is its outcome; this rejects only when it is aborted. */
export const syncOnce = async (syncing: Syncing, scope: SyncScope, events: SyncEvents): Promise<void> => {
  const { signal, states, counters } = syncing
  const pass = { ...syncing, outage: new Outage() }
  const roots: string[] = []
  const sessions: FoundSession[] = []
  for (const home of await homesOf(scope.env, scope.harnesses)) {
    const found = await findSessions(home, namesIn(states), counters, (what) => events.unread?.(what))
    roots.push(...home.home.roots.map((root) => join(home.folder, root)))
    if (found.length === 0) events.empty?.(home.home.harness, home.folder)
    for (const session of found) if (!scope.wants || (await scope.wants(session))) sessions.push(session)
  }
  events.found?.(sessions, roots)
  const waiting = sessions.values()
  const work = async () => {
    for (const session of waiting) {
      signal.throwIfAborted()
      events.synced(await syncSession(pass, session))
    }
  }
  await Promise.all(Array.from({ length: WIDTH }, work))
  if (states.trouble !== undefined) events.forgetful?.(states.trouble)
}

/** A file that is what it was when it was sent still has the name it had then. */
const namesIn = (states: SyncStates): KnownNames => ({
  nameOf: async (source) => {
    const known = states.ofSource(source)
    if (!known) return undefined
    const now = await lookAt(source).catch(() => undefined)
    return now && isSameIdentity(now, known.state.identity) ? known.id : undefined
  },
})
