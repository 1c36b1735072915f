import type { SessionKey } from '../../schema/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import type { SessionHead } from '../../store/ports.ts'
import { parserOf } from '../harnesses.ts'
import { changeHead, successor } from './items.ts'
import type { SessionParts } from './parts.ts'

/** A session is quiet when no byte came for so long. */
export const QUIET_MS = 60_000

/** What is derived before an append is answered; more is left to maintenance. */
const AT_ONCE_BYTES = 4 * 1024 * 1024

/** Whether what would have to be parsed is too much to let anybody wait for it; all of it where another parser was at work. */
export function isLeftToMaintenance({ harness }: SessionKey, head: SessionHead): boolean {
  const { derived, raw_bytes, pending } = head
  const isAnew = derived !== null && derived.parser !== parserOf(harness)
  const loose = derived?.state?.loose ?? 0
  return pending + loose > AT_ONCE_BYTES || isHeavy(head) || (isAnew && raw_bytes > AT_ONCE_BYTES)
}

/**
 * Whether so much would be parsed again that it waits for a quiet moment, or until as much is new: what a long line without its
 * end costs, or a session too long for a parser state, stays linear by that (P9).
 */
export function isHeavy({ derived, raw_bytes, pending }: SessionHead): boolean {
  if (derived === null) return false
  const again = derived.state === null ? raw_bytes : (derived.state.loose ?? 0)
  return again > AT_ONCE_BYTES && pending < again
}

/** How many problems the document reports; null while its derivation is due. */
export function knownProblems({ pending, derived }: SessionHead): number | null {
  return pending === 0 ? (derived?.problems ?? null) : null
}

/** A session with an acknowledged file; a tombstone is as absent as nothing. */
export interface LivingHead extends SessionHead {
  readonly archived_at: number
}

export function isLiving(head: SessionHead | undefined): head is LivingHead {
  return head?.alive === true && head.archived_at !== null
}

/** @throws not_found */
export async function livingHead(
  { ports: { sessions } }: SessionParts,
  session: SessionKey,
): Promise<LivingHead> {
  const head = await sessions.head(session)
  if (isLiving(head)) return head
  throw new RunfoldError('not_found', 'there is no such session')
}

/** What every life begins and every tombstone remains with. */
const NOTHING = {
  archived_at: null,
  derived: null,
  entry: null,
  file_count: 0,
  raw_bytes: 0,
  pending: 0,
  listed_at: null,
  sweep_at: null,
} as const satisfies Partial<SessionHead>

const UNBORN: SessionHead = {
  ...NOTHING,
  version: 0,
  life: 0,
  alive: false,
  revision: 0,
  sweep: 0,
  created_at: 0,
  changed_at: 0,
  due_at: null,
}

/**
 * Begins a life where there is none. It is due, so that what a writer stores for it and never commits is found; and nobody
 * sees it before its first file is told of (`tellOfFile`).
 */
export function beginLife(parts: SessionParts, session: SessionKey): Promise<SessionHead | undefined> {
  return changeHead(parts, session, (head = UNBORN, now) =>
    head.alive
      ? undefined
      : successor(head, {
          ...NOTHING,
          alive: true,
          life: head.life + 1,
          created_at: now,
          changed_at: now,
          due_at: now + QUIET_MS,
        }),
  )
}

/** The end of a life: nothing of it can be told any more, and maintenance removes what it leaves. */
export function endLife(head: SessionHead, now: number): SessionHead {
  const { revision, sweep } = head
  const ended = { alive: false, revision: revision + 1, sweep: sweep + 1, changed_at: now, due_at: now }
  return successor(head, { ...NOTHING, ...ended })
}

/**
 * Raises the revision after a commit of a file and before it is acknowledged; undefined when that life has ended.
 *
 * @param last_at when the file changed last, ms
 * @param bytes that are new to the derived form; 0 for a replay
 */
export function tellOfFile(
  parts: SessionParts,
  session: SessionKey,
  life: number,
  { last_at, bytes, merging = false }: { last_at: number; bytes: number; merging?: boolean },
): Promise<SessionHead | undefined> {
  return changeHead(parts, session, (head, now) => {
    if (!head?.alive || head.life !== life) return undefined
    const archived_at = Math.max(head.archived_at ?? 0, last_at)
    // Bytes whose own writer told nobody of them, since it fell.
    const untold = bytes === 0 && last_at > (head.archived_at ?? 0) ? 1 : 0
    const isByArchival = head.listed_at === null || head.listed_at === head.archived_at
    const told = successor(head, {
      revision: head.revision + 1,
      archived_at,
      changed_at: now,
      pending: head.pending + bytes + untold,
      listed_at: isByArchival ? archived_at : head.listed_at,
    })
    const isDue = merging || (isLeftToMaintenance(session, told) && !isHeavy(told))
    const due_at = isDue ? now : now + QUIET_MS
    return { ...told, due_at: Math.min(head.due_at ?? due_at, due_at) }
  })
}
