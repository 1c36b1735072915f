import type { SessionKey } from '../../schema/index.ts'
import type { SessionHead } from '../../store/ports.ts'
import { deriveSession } from './derive.ts'
import { currentFiles } from './files.ts'
import { isHeavy, isLiving, QUIET_MS, tellOfFile } from './head.ts'
import { changeHead, successor } from './items.ts'
import { mergeFile } from './merge.ts'
import type { SessionParts } from './parts.ts'
import { sweepSession } from './sweep.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Longer than any read plus clock differences (DESIGN.md). */
const GRACE_MS = HOUR_MS
const SESSIONS_A_PASS = 100
/** After a failure a session has to wait: damage does not heal by being looked at. */
const RETRY_MS = 600_000
/** Every so often all heads are visited, in case an entry of the due list was lost or a writer fell. */
const ROUND_MS = DAY_MS
const ROUND_SESSIONS_A_PASS = 20

export interface SessionMaintainer {
  /**
   * Does what is due: merges of files, derivations, documents that lag, the sweep. Idempotent, and harmless beside another at
   * work. Throws an AggregateError of what failed after the other sessions had their turn.
   *
   * @param isOver asked before each session; what is left then is still due
   */
  pass(isOver?: () => boolean): Promise<void>
  /**
   * The slow round, for a process that does not live from one to the next: every session behind `after`, or from the first.
   *
   * @returns the session to go on behind, undefined when all were visited; and what failed
   */
  round(
    after: SessionKey | undefined,
    isOver: () => boolean,
  ): Promise<{ readonly after: SessionKey | undefined; readonly failures: readonly unknown[] }>
}

export function createSessionMaintainer(
  parts: SessionParts,
  { graceMs = GRACE_MS }: { readonly graceMs?: number } = {},
): SessionMaintainer {
  const { clock, ports } = parts
  let round: { after: SessionKey | undefined } | undefined
  let nextRound = clock.now() + ROUND_MS

  /** The next few sessions of the slow round, which begins once a day. */
  const roundSessions = async (): Promise<readonly SessionKey[]> => {
    if (!round && clock.now() < nextRound) return []
    const found = await ports.sessions.everySession(round?.after, ROUND_SESSIONS_A_PASS)
    const isDone = found.length < ROUND_SESSIONS_A_PASS
    round = isDone ? undefined : { after: found.at(-1) }
    if (isDone) nextRound = clock.now() + ROUND_MS
    return found
  }

  const look = async (session: SessionKey, isRound: boolean): Promise<void> => {
    try {
      await visit(parts, session, { graceMs, isRound })
    } catch (error) {
      await postpone(parts, session).catch(() => {})
      throw error
    }
  }

  return {
    round: async (from, isOver) => {
      const failures: unknown[] = []
      for (let after = from; ; ) {
        const found = await ports.sessions.everySession(after, ROUND_SESSIONS_A_PASS)
        for (const session of found) {
          if (isOver()) return { after, failures }
          await look(session, true).catch((error) => failures.push(error))
          after = session
        }
        if (found.length < ROUND_SESSIONS_A_PASS) return { after: undefined, failures }
      }
    },
    pass: async (isOver = () => false) => {
      const failures: unknown[] = []
      const due = await ports.sessions.due(clock.now(), SESSIONS_A_PASS)
      const visits = [
        ...due.map((session) => ({ session, isRound: false })),
        ...(await roundSessions()).map((session) => ({ session, isRound: true })),
      ]
      for (const { session, isRound } of visits) {
        if (isOver()) break
        await look(session, isRound).catch((error) => failures.push(error))
      }
      if (failures.length > 0) {
        throw new AggregateError(failures, `maintenance of sessions failed in ${failures.length} places`)
      }
    },
  }
}

/** All that one session needs now, and when it is to be looked at again. */
async function visit(
  parts: SessionParts,
  session: SessionKey,
  { graceMs, isRound }: { readonly graceMs: number; readonly isRound: boolean },
): Promise<void> {
  const { sessions } = parts.ports
  const head = await sessions.head(session)
  if (!head) return
  const failures: unknown[] = []
  const isMore = head.alive && (await catchUp(parts, session, head, failures))
  await sessions.forgetFiles(session, head.alive ? head.life : head.life + 1)
  const now = parts.clock.now()
  const isSweepDue = isRound || !head.alive || isMore || head.sweep_at === null || head.sweep_at <= now
  const sweep_at = isSweepDue ? await sweepSession(parts, session, graceMs) : head.sweep_at
  await changeHead(parts, session, (present) => {
    if (!present) return undefined
    const due_at = nextDue(present, now, { sweep_at, isMore, since: head.revision })
    if (due_at === present.due_at && sweep_at === present.sweep_at) return undefined
    return successor(present, { due_at, sweep_at })
  })
  if (failures.length > 0) throw failures[0]
}

/** Merges, tells of what its writer could not tell, derives; what fails must not keep the sweep away. @returns whether more is to be merged */
async function catchUp(
  parts: SessionParts,
  session: SessionKey,
  head: SessionHead,
  failures: unknown[],
): Promise<boolean> {
  const { life, archived_at } = head
  const found = await currentFiles(parts, session, life)
  const last_at = Math.max(0, ...found.map(({ file }) => file.last_at))
  let present: SessionHead | undefined = head
  if (last_at > (archived_at ?? 0)) present = await tellOfFile(parts, session, life, { last_at, bytes: 1 })
  let isMore = false
  for (const { path, file } of found) {
    const merged = await mergeFile(parts, session, { life, path }, file)
    if (merged.damage) failures.push(merged.damage)
    isMore ||= merged.isMore
  }
  if (!isLiving(present)) return isMore
  const isQuiet = present.archived_at + QUIET_MS <= parts.clock.now()
  if (isHeavy(present) && !isQuiet) return isMore
  const want = isQuiet ? 'document' : 'entry'
  await deriveSession(parts, session, { want }).catch((error) => failures.push(error))
  return isMore
}

function nextDue(
  head: SessionHead,
  now: number,
  { sweep_at, isMore, since }: { sweep_at: number | null; isMore: boolean; since: number },
): number | null {
  const times: number[] = []
  if (isMore) times.push(now)
  // What came meanwhile may have found it due already, and left it at that.
  const quiet_at = (head.archived_at ?? head.created_at) + QUIET_MS
  if (head.alive && (quiet_at > now || head.revision !== since)) times.push(quiet_at)
  if (sweep_at !== null) times.push(sweep_at)
  // What a stalled writer stores after the deletion is found a day later.
  if (!head.alive && now < head.changed_at + DAY_MS) times.push(head.changed_at + DAY_MS)
  return times.length > 0 ? Math.min(...times) : null
}

async function postpone(parts: SessionParts, session: SessionKey): Promise<void> {
  await changeHead(parts, session, (head, now) =>
    head && head.due_at !== null && head.due_at <= now
      ? successor(head, { due_at: now + RETRY_MS })
      : undefined,
  )
}
