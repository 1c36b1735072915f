import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '#client'
import type { Harness } from '#schema'
import { counted } from '../../counted.ts'
import { newCounters } from '../sync/counters.ts'
import { findSessions, homesOf } from '../sync/find.ts'
import { type Finding, ok, warning } from './finding.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Days after which Claude Code deletes transcripts where its settings say nothing. */
const CLAUDE_DEFAULT_DAYS = 30

/**
 * The histories of coding agents on this machine: which of them are not archived, and what will delete them. Where there is no
 * harness there is nothing to say.
 */
export async function* checkSessions(
  client: Client | undefined,
  env: Variables,
  machine: string,
): AsyncGenerator<Finding> {
  for (const home of await homesOf(env)) {
    const { harness } = home.home
    const names = { nameOf: async () => undefined }
    const found = await findSessions(home, names, newCounters(), () => undefined)
    if (harness === 'claude-code') yield* checkCleanup(home.folder, found.length)
    if (!client) continue
    const archived = await archivedIds(client, harness, machine)
    if (!archived) continue
    const missing = found.filter(({ id }) => !archived.has(id)).length
    yield missing === 0
      ? ok('sessions', `${harness}: ${allOf(found.length)} archived`)
      : warning(
          'sessions',
          `${harness}: ${missing} of ${counted(found.length, 'session')} on this machine ${missing === 1 ? 'is' : 'are'} not archived`,
          'runfold sync, and runfold watch --sessions for those to come',
        )
  }
}

const allOf = (sessions: number): string =>
  sessions === 1
    ? 'the one session is'
    : sessions === 0
      ? 'no session is to be'
      : `all ${sessions} sessions are`

async function* checkCleanup(folder: string, sessions: number): AsyncGenerator<Finding> {
  const days = await cleanupDays(join(folder, 'settings.json'))
  if (sessions === 0 || days > 3650) return
  yield warning(
    'sessions',
    `Claude Code deletes transcripts ${counted(days, 'day')} after they were last used`,
    'archive them (runfold watch --sessions), or raise cleanupPeriodDays in its settings.json',
  )
}

/** Of the settings this one number is looked at and nothing else. */
const cleanupDays = async (file: string): Promise<number> => {
  try {
    const { cleanupPeriodDays: days } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>
    return typeof days === 'number' && days >= 0 ? days : CLAUDE_DEFAULT_DAYS
  } catch {
    return CLAUDE_DEFAULT_DAYS
  }
}

/** Undefined where the server does not tell, such as one without the feature or a token that may not read. */
const archivedIds = async (
  client: Client,
  harness: Harness,
  machine: string,
): Promise<ReadonlySet<string> | undefined> => {
  const ids = new Set<string>()
  let cursor: string | null | undefined
  try {
    do {
      const page = await client.sessions({ harness, machine, limit: 200, ...(cursor && { cursor }) })
      for (const { id } of page.items) ids.add(id)
      cursor = page.next_cursor
    } while (cursor)
    return ids
  } catch {
    return undefined
  }
}
