import type { Card, ListAnswer, ListQuery } from '../schema/index.ts'
import { SCAN_BUDGET } from '../schema/index.ts'
import { cardJson, cardOf } from './card-row.ts'
import { caseless } from './caseless.ts'
import { serverTime } from './head.ts'
import type { StoreParts } from './parts.ts'
import type { CardPlace, CardRow, CardScan, RunIndex } from './ports.ts'
import { readCursor, writeCursor } from './reading/cursor.ts'
import { takingTurns } from './reading/turns.ts'

/** Rows read from the index at a time while a filter looks for what it wants. */
const SCAN_ROWS = 500

/** A run that is listed, and where. */
interface Found {
  readonly card: Card
  readonly place: CardPlace
}

/** What bounds a listing beside its query. */
export interface ListBounds {
  /** What a token may see of its tenant. */
  readonly run_prefix?: string | null
}

/** A page of cards by (created_at, run_id), both immutable: a walk sees every run that lives throughout exactly once. */
export async function listRuns(
  { ports: { index }, clock }: StoreParts,
  tenant: string,
  query: ListQuery,
  { run_prefix = null }: ListBounds = {},
): Promise<ListAnswer> {
  const { limit, cursor, ...question } = query
  const binding = ['runs', tenant, run_prefix, Object.entries(question).sort()]
  const wanted = filterOf(query, run_prefix)
  const since = query.since === undefined ? undefined : firstMs(query.since)
  const isSelective = run_prefix !== null || Object.keys(question).some((name) => name !== 'order')

  const found: Found[] = []
  let after = cursor === undefined ? beginning(query.order, since) : await placeOf(binding, cursor)
  let budget = SCAN_BUDGET
  let isEnd = false
  const turn = takingTurns()
  // One more than asked for, to know whether a next page would have anything on it.
  while (found.length <= limit && budget > 0 && !isEnd) {
    const rows = isSelective ? Math.min(SCAN_ROWS, budget) : limit + 1 - found.length
    const scan: CardScan = { order: query.order, limit: rows, ...(after && { after }) }
    const page = await index.cards(tenant, scan)
    const inTime = page.filter((row) => since === undefined || row.created_at >= since)
    isEnd = page.length < rows || inTime.length < page.length
    budget -= page.length
    const last = page.at(-1)
    if (last) after = rowPlace(last)
    const matching = inTime.filter(wanted).slice(0, limit + 1 - found.length)
    found.push(...(await cardsOfLiving(index, matching)))
    await turn()
  }

  const items = found.slice(0, limit).map(({ card }) => card)
  const isTruncated = found.length <= limit && !isEnd
  const next = found.length > limit ? found[limit - 1]?.place : isTruncated ? after : undefined
  return {
    items,
    next_cursor: next ? await writeCursor(binding, [next.created_at, next.run_id]) : null,
    ...(isTruncated && { scan_truncated: true }),
    server_time: serverTime(clock.now()),
  }
}

/** The cards of these rows, but of runs that were deleted since, or made again. */
async function cardsOfLiving(index: RunIndex, rows: readonly CardRow[]): Promise<Found[]> {
  const heads = await index.heads(rows.map(({ run }) => run))
  return rows.flatMap((row, n) => {
    const head = heads[n]
    if (!head?.alive || head.life !== row.life) return []
    return { card: cardJson(row.run, cardOf(head, row)), place: rowPlace(row) }
  })
}

function rowPlace({ created_at, run }: CardRow): CardPlace {
  return { created_at, run_id: run.run_id }
}

/** The first millisecond, which is how times are kept, that is not before a time of any fraction. */
function firstMs(time: string): number {
  return Date.parse(time) + (/\.\d{3}\d*[1-9]/.test(time) ? 1 : 0)
}

/** A scan begins after a place; every run_id comes after the empty one. */
function beginning(order: ListQuery['order'], since: number | undefined): CardPlace | undefined {
  return order === 'asc' && since !== undefined ? { created_at: since, run_id: '' } : undefined
}

async function placeOf(binding: readonly unknown[], cursor: string): Promise<CardPlace> {
  const isPlace = ([at, run_id, ...rest]: readonly unknown[]) =>
    Number.isSafeInteger(at) && typeof run_id === 'string' && rest.length === 0
  const [created_at, run_id] = await readCursor<readonly [number, string]>(binding, cursor, isPlace)
  return { created_at, run_id }
}

function filterOf(query: ListQuery, run_prefix: string | null): (row: CardRow) => boolean {
  const needle = query.q === undefined ? undefined : caseless(query.q)
  const statuses = query.status && new Set(query.status)
  const parent = query.parent === 'none' ? null : query.parent
  return ({ run, card, workdir }) => {
    if (run_prefix !== null && !run.run_id.startsWith(run_prefix)) return false
    if (statuses && !(card.status !== null && statuses.has(card.status))) return false
    if (query.agent !== undefined && card.agent_name !== query.agent) return false
    if (query.machine !== undefined && card.machine_id !== query.machine) return false
    if (parent !== undefined && card.parent_run_id !== parent) return false
    if (needle === undefined) return true
    const searched = [card.title, card.task, card.agent_name, run.run_id, workdir, card.error]
    return searched.some((text) => text && caseless(text).includes(needle))
  }
}
