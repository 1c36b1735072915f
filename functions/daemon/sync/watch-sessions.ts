import { dirname } from 'node:path'
import { FolderEvents } from '../watch/folder-events.ts'
import type { FoundSession } from './find.ts'
import type { Identity } from './source-file.ts'
import { type SyncEvents, type SyncScope, syncOnce } from './sync.ts'
import type { Syncing } from './syncing.ts'

/** What comes within this time is looked at together. */
const LINGER_MS = 300
/** What events miss is caught by a poll (SESSIONS.md 5). */
const POLL_MS = 3000
/** Looking at very many files takes longer, and is done seldomer: at most one part in so many of the time is spent on it. */
const REST = 50
const POLL_MS_MAX = 30_000
/** An unterminated line that has not changed for so long is sent as it is. */
const LOOSE_AFTER_MS = 30_000

/**
 * In `watch` the end of a file is sent without an LF only when nobody has written to it for a while. A time to come was written
 * before the clock was set back.
 */
export const isQuiet = ({ mtime_ns }: Identity): boolean =>
  Math.abs(Date.now() - Number(BigInt(mtime_ns) / 1_000_000n)) >= LOOSE_AFTER_MS

/** Passes over all sessions again and again, as soon as something tells of a change, until `stop` aborts. */
export const watchSessions = async (
  syncing: Syncing,
  scope: SyncScope,
  events: SyncEvents,
  stop: AbortSignal,
): Promise<void> => {
  let told: () => void = () => undefined
  using folders = new FolderEvents(() => told())
  const found = (sessions: readonly FoundSession[], homes: readonly string[]) => {
    for (const folder of [...homes, ...foldersOf(sessions)]) folders.add(folder)
    events.found?.(sessions, homes)
  }
  while (!stop.aborted) {
    const change = new Promise<void>((resolve) => {
      told = () => setTimeout(resolve, LINGER_MS)
    })
    const began = performance.now()
    let sent = 0
    const synced: SyncEvents['synced'] = (session) => {
      sent += session.bytes
      events.synced(session)
    }
    try {
      await syncOnce(syncing, scope, { ...events, found, synced })
    } catch (error) {
      if (!stop.aborted) throw error // else the next watch goes on where this one was cut
    }
    const lookedFor = performance.now() - began
    await untilEither(change, sent > 0 ? POLL_MS : restAfter(lookedFor), stop)
  }
}

const restAfter = (ms: number): number => Math.min(POLL_MS_MAX, Math.max(POLL_MS, REST * ms))

const foldersOf = (sessions: readonly FoundSession[]): ReadonlySet<string> => {
  const folders = new Set<string>()
  for (const { files, home } of sessions)
    for (const { source } of files)
      for (let at = dirname(source); at.length > home.length && !folders.has(at); at = dirname(at))
        folders.add(at)
  return folders
}

const untilEither = (change: Promise<void>, ms: number, stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stop.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      stop.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    stop.addEventListener('abort', done)
    void change.then(done)
  })
