import { appendFileSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createClient, Redacted } from '#client'
import { createSessionArchive } from '#sessions/archive'
import { createArchive, createTokens, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { createApp } from '../../functions/api/app.ts'
import { LOCAL_LIMITS } from '../../functions/api/limits.ts'
import { openSync as openSessionSync } from '../../functions/daemon/sync/open-sync.ts'
import { claudeRow } from '../shared/sessions/archive/rows.ts'
import type { Figures } from './figures.ts'
import { TOKEN } from './server.ts'

export const MORE = 4
const MESSAGE_BYTES = 1000

const text = 'something that somebody said to somebody else, at some length. '.repeat(13)
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => claudeRow(from + i, `${from + i} ${text}`)).join('')

export const messagesIn = (megabytes: number) => megabytes * (1_000_000 / MESSAGE_BYTES)

/** Where the session `s` of a home lies. */
export const sessionFile = (home: string) => join(home, '.claude/projects/-w/s.jsonl')

export function writeSession(path: string, messages: number): void {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'w')
  for (let n = 0; n < messages; n += 1000) writeSync(file, rows(n, Math.min(n + 1000, messages)))
  closeSync(file)
}

export const appendMore = (path: string, messages: number) =>
  appendFileSync(path, rows(messages, messages + MORE))

/**
 * What MORE messages cost, added to a session that was archived and read once: bytes read of the source, bytes sent, and records
 * parsed by the server until its document is read again. And a pass that finds nothing. Server and program are in this process.
 */
export async function workOfAppend(folder: string, messages: number): Promise<Figures> {
  const file = sessionFile(folder)
  writeSession(file, messages)
  const { ports, close } = await openLocalStore(join(folder, 'data'))
  try {
    let parsed = 0
    const parts = { clock: systemClock, limits: LOCAL_LIMITS }
    const observe = (_session: unknown, work: { records_parsed: number }) => {
      parsed += work.records_parsed
    }
    const tokens = createTokens(ports.tokens, systemClock)
    await tokens.install(TOKEN)
    const app = createApp({
      archive: createArchive(ports, parts),
      sessions: createSessionArchive(ports, { ...parts, observe }),
      tokens,
      ...parts,
      features: ['sessions'],
      version: 'bench',
    })
    const url = 'http://bench.local'
    const token = new Redacted(TOKEN)
    const client = createClient({
      url,
      token,
      fetch: async (input, init) => app.fetch(new Request(input, init)),
    })
    const pass = async () => {
      using sync = await openSessionSync({
        client,
        url,
        env: { HOME: folder },
        machine: 'bench',
        looksForSecrets: true,
        refusesSecrets: false,
        verifies: false,
        isDry: false,
        signal: new AbortController().signal,
      })
      await sync.once({ synced: () => undefined })
      return sync.counters
    }
    const readDocument = async () => {
      const { chunks } = await client.sessionDocument({ harness: 'claude-code', id: 's' })
      for await (const _ of chunks);
    }
    await pass()
    await readDocument()
    parsed = 0
    const idle = await pass()
    const idleParsed = parsed
    appendMore(file, messages)
    const more = await pass()
    await readDocument()
    return {
      append_bytes_read: more.bytes_read,
      append_bytes_sent: more.bytes_sent,
      append_parsed: parsed,
      idle_bytes_read: idle.bytes_read,
      idle_parsed: idleParsed,
      idle_requests: idle.requests,
    }
  } finally {
    close()
    rmSync(folder, { recursive: true })
  }
}
