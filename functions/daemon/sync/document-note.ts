import type { SessionOutcome } from '#schema'
import { sayProblems } from './document-problems.ts'
import type { SessionServer } from './session-server.ts'
import type { SessionName } from './states.ts'
import type { Syncing } from './syncing.ts'

/** What the server said last of a session in this pass. */
interface LastAnswer {
  readonly outcome?: SessionOutcome
  /** Null where the derivation is due. */
  readonly problems?: number | null
  /** A file goes on as another generation, so that as many problems may be others. */
  readonly isReplaced: boolean
}

/** A count that no document has: whatever is heard next is another. */
const UNKNOWN = -1
const UNDERIVED = 'its document could not be derived, the former one stays'

/**
 * What is to be said of a session's document, as it was last heard: a pass that asks nothing of the server says what the pass
 * before said. Only a change is asked about, for the document is read for that; and only where something was sent or is to be
 * verified, for who has lost what was remembered has one question a session (SESSIONS.md 6, 19).
 */
export const noteOf = async (
  { states, isDry, verifies }: Syncing,
  server: SessionServer,
  session: SessionName,
  last: LastAnswer | undefined,
): Promise<string | null> => {
  const before = states.note(session)
  const keep = (count: number, text: string | null) => {
    states.setNote(session, text === null ? null : { count, text })
    return text
  }
  if (isDry) return before?.text ?? null
  if (last?.outcome === 'failed') return keep(UNKNOWN, UNDERIVED)
  const count = last ? last.problems : server.listedProblems
  if (count === null || count === undefined) return before?.text ?? null
  if (count === (before?.count ?? 0) && !last?.isReplaced) return before?.text ?? null
  if (count === 0) return keep(0, null)
  if (last || verifies) return keep(count, sayProblems(await server.problems().catch(() => []), count))
  return before?.text ?? keep(UNKNOWN, sayProblems([], count))
}
