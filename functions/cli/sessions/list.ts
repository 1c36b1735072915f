import type { Harness, ListedSession } from '#schema'
import { tellMore } from '../more.ts'
import type { Session } from '../session.ts'
import { printTable } from '../table.ts'
import { wholeSeconds } from '../time.ts'

export interface ListOptions {
  readonly harness?: readonly Harness[]
  readonly machine?: string
  readonly cwd?: string
  readonly q?: string
  readonly limit: number
  readonly all?: boolean
}

/** Prints catalog entries, the newest first, and says where they are not all. */
export const list = async (session: Session, { limit, all, ...filters }: ListOptions): Promise<void> => {
  const end = { hasMore: false }
  const rows = listed(session, filters, all ? Infinity : limit, end)
  if (session.json) for await (const row of rows) await session.out.json(row)
  else {
    const none = 'no sessions; `runfold sync` archives those of this machine'
    await printTable(session.out, COLUMNS, rows, none)
  }
  if (end.hasMore) await tellMore(session, limit)
}

const PAGE = 200

/** The server filters by one harness; of several it is asked for all. */
async function* listed(
  session: Session,
  { harness: harnesses, ...filters }: Omit<ListOptions, 'limit' | 'all'>,
  limit: number,
  end: { hasMore: boolean },
): AsyncGenerator<ListedSession> {
  const client = await session.client()
  const [harness, ...others] = harnesses ?? []
  const query = { ...filters, ...(harness && others.length === 0 && { harness }) }
  let left = limit
  let cursor: string | null | undefined
  do {
    const page = await client.sessions({
      ...query,
      limit: Math.min(PAGE, left + 1),
      ...(cursor && { cursor }),
    })
    for (const row of page.items) {
      if (harnesses && !harnesses.includes(row.harness)) continue
      if (left-- === 0) {
        end.hasMore = true
        return
      }
      yield row
    }
    cursor = page.next_cursor
  } while (cursor)
}

const COLUMNS = [
  { title: 'SESSION', value: (row: ListedSession) => row.id.slice(0, 8), width: 8 },
  { title: 'HARNESS', value: (row: ListedSession) => row.harness, width: 11 },
  { title: 'UPDATED', value: (row: ListedSession) => wholeSeconds(row.updated_at ?? row.archived_at) },
  { title: 'MESSAGES', value: (row: ListedSession) => row.message_count, align: 'right' as const },
  { title: 'MACHINE', value: (row: ListedSession) => row.machine, width: 16 },
  { title: 'TITLE', value: (row: ListedSession) => row.title, width: 72 },
]
