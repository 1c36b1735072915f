import { parseJson } from '../../codec/index.ts'
import type {
  CatalogEntry,
  ListedSession,
  SessionKey,
  SessionsAnswer,
  SessionsQuery,
} from '../../schema/index.ts'
import { SCAN_BUDGET } from '../../schema/index.ts'
import { caseless } from '../../store/caseless.ts'
import { readCursor, takingTurns, writeCursor } from '../../store/index.ts'
import type { SessionHead, SessionPlace } from '../../store/ports.ts'
import { namedSession, sessionName } from '../../store/session-place.ts'
import { parserOf } from '../harnesses.ts'
import { isCurrent } from './current.ts'
import { deriveSession } from './derive.ts'
import { isLeftToMaintenance, isLiving } from './head.ts'
import type { SessionParts } from './parts.ts'

/** Rows read from the index at a time while a filter looks for what it wants. */
const SCAN_ROWS = 200
/** Entries that one page has made anew at most; the others are shown as they are. */
const DERIVED_A_PAGE = 50

/** A page of entries, the newest first by `updated_at`; without that by when they were archived. */
export async function listSessions(
  parts: SessionParts,
  tenant: string,
  query: SessionsQuery,
): Promise<SessionsAnswer> {
  const { limit, cursor, ...question } = query
  const binding = ['sessions', tenant, Object.entries(question).sort()]
  const isWanted = filterOf(query)
  const isSelective = Object.keys(question).length > 0
  const found: { item: ListedSession; place: SessionPlace }[] = []
  let after = cursor === undefined ? undefined : await placeOf(tenant, binding, cursor)
  let budget = SCAN_BUDGET
  let derivable = DERIVED_A_PAGE
  let isEnd = false
  const turn = takingTurns()
  // One more than asked for, to know whether a next page would have anything on it.
  while (found.length <= limit && budget > 0 && !isEnd) {
    const rows = isSelective ? Math.min(SCAN_ROWS, budget) : limit + 1 - found.length
    const page = await parts.ports.sessions.list(tenant, after, rows)
    isEnd = page.length < rows
    budget -= page.length
    for (const { session, head } of page) {
      if (found.length > limit) break
      const place = { session, listed_at: head.listed_at as number }
      after = place
      if (!isOfMachine(query, session)) continue
      const fresh = await freshHead(parts, session, head, derivable > 0)
      if (fresh !== head) derivable--
      const item = fresh && listed(session, fresh)
      if (item && isWanted(item)) found.push({ item, place })
      await turn()
    }
  }
  const items = found.slice(0, limit).map(({ item }) => item)
  const isTruncated = found.length <= limit && !isEnd
  const next = found.length > limit ? found[limit - 1]?.place : isTruncated ? after : undefined
  return {
    items,
    next_cursor: next
      ? await writeCursor(binding, [next.listed_at, encodeURIComponent(sessionName(next.session))])
      : null,
    ...(isTruncated && { scan_truncated: true }),
  }
}

async function placeOf(tenant: string, binding: readonly unknown[], cursor: string): Promise<SessionPlace> {
  const isPlace = ([at, name, ...rest]: readonly unknown[]) =>
    Number.isSafeInteger(at) && typeof name === 'string' && rest.length === 0
  const [listed_at, name] = await readCursor<readonly [number, string]>(binding, cursor, isPlace)
  return { listed_at, session: namedSession(tenant, decodeURIComponent(name)) }
}

/**
 * The head with an entry that is current: as the index has it, or made anew where it is missing, of another parser, or of a fork
 * whose ancestor has changed. What cannot be made now is listed as it is. Undefined where the session is gone.
 */
async function freshHead(
  parts: SessionParts,
  session: SessionKey,
  row: SessionHead,
  mayDerive: boolean,
): Promise<SessionHead | undefined> {
  if (!mayDerive || !isLiving(row)) return row
  const { derived, entry, pending } = row
  const isShown = entry !== null && pending === 0 && derived !== null
  const parser = parserOf(session.harness)
  if (isShown && (await isCurrent(parts, session, { ...row, revision: derived.revision }, derived, parser)))
    return row
  const head = await parts.ports.sessions.head(session)
  if (!isLiving(head)) return undefined
  if (isLeftToMaintenance(session, head)) return head
  try {
    return await deriveSession(parts, session, { want: 'entry' })
  } catch (error) {
    parts.failed?.(session, error)
    return head
  }
}

function listed(session: SessionKey, head: SessionHead): ListedSession | undefined {
  if (!isLiving(head)) return undefined
  const { archived_at, derived, file_count, raw_bytes } = head
  const { harness, id, machine } = session
  const underived = {
    ...{ harness, id, title: '(untitled)', message_count: 0, prompt_count: 0, tool_call_count: 0 },
    ...{ problem_count: 0, usage: {}, agent_count: 0 },
  }
  const entry = head.entry === null ? underived : (parseJson(head.entry) as unknown as CatalogEntry)
  return {
    ...entry,
    machine,
    archived_at: new Date(archived_at).toISOString(),
    parser: derived?.parser ?? null,
    file_count,
    raw_bytes,
  }
}

function isOfMachine({ harness, machine }: SessionsQuery, session: SessionKey): boolean {
  return (
    (harness === undefined || session.harness === harness) &&
    (machine === undefined || session.machine === machine)
  )
}

function filterOf({ cwd, q }: SessionsQuery): (item: ListedSession) => boolean {
  const needle = q === undefined ? undefined : caseless(q)
  return (item) => {
    if (cwd !== undefined && item.cwd !== cwd) return false
    if (needle === undefined) return true
    return [item.title, item.id, item.cwd].some((text) => text && caseless(text).includes(needle))
  }
}
