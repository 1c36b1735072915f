import { dirname } from 'node:path'
import { FolderEvents } from '../watch/folder-events.ts'
import type { FoundSession } from './find.ts'
import type { Identity } from './source-file.ts'
import { type SyncEvents, type SyncScope, syncOnce } from './sync.ts'
import type { Syncing } from './syncing.ts'

/** What comes within this time is looked at together. */
const LINGER_MS = 300
/** What events miss is caught by a poll, which is slow where nothing has been written for a while. */
const POLL_MS = 3000
const QUIET_POLL_MS = 30_000
const BUSY_FOR_MS = 300_000
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
  let busyUntil = 0
  const synced: SyncEvents['synced'] = (session) => {
    if (session.bytes > 0 || session.outcome === 'failed') busyUntil = performance.now() + BUSY_FOR_MS
    events.synced(session)
  }
  while (!stop.aborted) {
    const change = new Promise<void>((resolve) => {
      told = () => setTimeout(resolve, LINGER_MS)
    })
    try {
      await syncOnce(syncing, scope, { ...events, found, synced })
    } catch (error) {
      if (!stop.aborted) throw error // else the next watch goes on where this one was cut
    }
    await untilEither(change, performance.now() < busyUntil ? POLL_MS : QUIET_POLL_MS, stop)
  }
}

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
