import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { createClient, Redacted } from '#client'
import type { Harness } from '#schema'
import type { Counters } from '../../../../functions/daemon/sync/counters.ts'
import type { Unread } from '../../../../functions/daemon/sync/find.ts'
import { openSync, type SyncOptions } from '../../../../functions/daemon/sync/open-sync.ts'
import type { SyncEvents } from '../../../../functions/daemon/sync/sync.ts'
import type { SyncedSession } from '../../../../functions/daemon/sync/sync-session.ts'
import { derive, heldFiles } from '../../../kit/session-files.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { type Server, startServer, URL_OF_SERVER } from '../../../shared/client/kit.ts'

const MACHINE = 'box'
const DEFAULTS = {
  url: URL_OF_SERVER,
  looksForSecrets: false,
  refusesSecrets: false,
  verifies: false,
  isDry: false,
  signal: new AbortController().signal,
}
export const CLAUDE = '.claude/projects/-w'

export interface Synced {
  readonly sessions: readonly SyncedSession[]
  readonly unread: readonly Unread[]
  readonly counters: Counters
  readonly outcomes: Readonly<Record<string, string>>
}

/** A user's folder, and syncs of it to one server; each is a process of its own as far as anything is remembered. */
export const laptop = async (given?: Server, machine = MACHINE) => {
  const server = given ?? (await startServer(undefined, ['sessions']))
  const home = realpathSync(temporaryFolder())
  const env = { HOME: home, XDG_STATE_HOME: join(home, '.state') }
  const client = createClient({
    url: URL_OF_SERVER,
    token: new Redacted(server.token),
    fetch: server.fetch,
    retry: { retries: 1, sleep: async () => undefined },
  })
  const path = (name: string) => join(home, name)
  const write = (name: string, bytes: string | Uint8Array) => {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), bytes)
  }
  const sync = async (
    options: Partial<SyncOptions> = {},
    events: Partial<SyncEvents> = {},
  ): Promise<Synced> => {
    using open = await openSync({ ...DEFAULTS, client, env, machine, ...options })
    const sessions: SyncedSession[] = []
    const unread: Unread[] = []
    await open.once({
      synced: (session) => sessions.push(session),
      unread: (what) => unread.push(what),
      ...events,
    })
    const outcomes = Object.fromEntries(sessions.map(({ id, outcome }) => [id, outcome]))
    return { sessions, unread, counters: open.counters, outcomes }
  }
  /** A watch until the first session is through, or until it is stopped. */
  const watchOnce = async (
    events: Partial<SyncEvents> = {},
    stop = new AbortController(),
  ): Promise<Counters> => {
    using open = await openSync({ ...DEFAULTS, client, env, machine, signal: stop.signal })
    await open.watch({ synced: () => stop.abort(), ...events }, stop.signal)
    return open.counters
  }
  const raw = async (harness: Harness, id: string, file: string, generation?: number) => {
    const { chunks } = await client.sessionRaw(
      { harness, id, machine },
      { path: file, ...(generation !== undefined && { generation }) },
    )
    return collected(chunks)
  }
  const files = async (harness: Harness, id: string) =>
    (await client.sessionFiles({ harness, id, machine })).items
  const document = async (harness: Harness, id: string) =>
    collected((await client.sessionDocument({ harness, id, machine })).chunks)
  /** The document is what a fresh process derives from the stored bytes, and every current file is what lies here. */
  const expectExact = async (harness: Harness, id: string, sources: Readonly<Record<string, string>>) => {
    const current = (await files(harness, id)).filter((file) => file.current)
    const held = new Map<string, { bytes: Buffer; generation: number }>()
    for (const { path: file, generation } of current)
      held.set(file, { bytes: await raw(harness, id, file), generation })
    for (const [file, source] of Object.entries(sources))
      expect(held.get(file)?.bytes.equals(readFileSync(path(source))), file).toBe(true)
    const full = await derive({ harness, id, files: heldFiles(held) })
    expect((await document(harness, id)).toString()).toBe(Buffer.from(full.document).toString())
  }
  return { server, home, path, write, sync, watchOnce, raw, files, document, expectExact }
}

const collected = async (chunks: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

/** Rows of a Claude transcript, from one number to another. */
export const rows = (from: number, to: number, say = 'something that was said'): string =>
  Array.from({ length: to - from }, (_, i) => {
    const n = from + i
    return `${JSON.stringify({
      type: n % 2 ? 'assistant' : 'user',
      uuid: `u${n}`,
      parentUuid: n > 0 ? `u${n - 1}` : null,
      timestamp: new Date(1_790_000_000_000 + n * 1000).toISOString(),
      cwd: '/w',
      message: { id: `m${n}`, content: `${say} ${n}`, usage: { input_tokens: 1, output_tokens: 2 } },
    })}\n`
  }).join('')
