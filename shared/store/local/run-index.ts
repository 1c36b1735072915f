import type { DatabaseSync } from 'node:sqlite'
import { jsonText, parseJson } from '../../codec/index.ts'
import { LEASE_HISTORY_MAX, type RunKey, type Transfer } from '../../schema/index.ts'
import { applyChange, meets } from '../head.ts'
import type { CardRow, Head, RunIndex } from '../ports.ts'
import type { GroupCommit } from './database.ts'

const read = <T>(text: unknown) => parseJson(String(text)) as T

/** The run index in SQLite. Conditions are judged in JavaScript, by the same functions as in memory, inside a transaction. */
export function sqliteRunIndex(database: DatabaseSync, commits: GroupCommit): RunIndex {
  const sql = (text: string) => database.prepare(text)
  const getHead = sql('SELECT head FROM heads WHERE tenant = ? AND run_id = ?')
  const putHead = sql(`INSERT INTO heads (tenant, run_id, due_at, claim_at, head) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET due_at = excluded.due_at, claim_at = excluded.claim_at, head = excluded.head`)
  const getCard = sql('SELECT card FROM cards WHERE tenant = ? AND run_id = ?')
  const putCard =
    sql(`INSERT INTO cards (tenant, run_id, life, tail, created_at, card) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET life = excluded.life, tail = excluded.tail, created_at = excluded.created_at, card = excluded.card
    WHERE (excluded.life, excluded.tail) >= (life, tail)`)
  const dropCard = sql('DELETE FROM cards WHERE tenant = ? AND run_id = ? AND life <= ?')
  const newest = sql(`SELECT card FROM cards WHERE tenant = ? AND (created_at, run_id) < (?, ?)
    ORDER BY created_at DESC, run_id DESC LIMIT ?`)
  const oldest = sql(`SELECT card FROM cards WHERE tenant = ? AND (created_at, run_id) > (?, ?)
    ORDER BY created_at, run_id LIMIT ?`)
  const putTransfer = sql(`INSERT INTO transfers (tenant, run_id, epoch, transfer) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET transfer = excluded.transfer`)
  const forgetTransfers = sql('DELETE FROM transfers WHERE tenant = ? AND run_id = ? AND epoch <= ?')
  const transfers = sql(
    'SELECT transfer FROM transfers WHERE tenant = ? AND run_id = ? ORDER BY epoch DESC LIMIT ?',
  )
  const due = sql('SELECT tenant, run_id FROM heads WHERE due_at <= ? ORDER BY due_at LIMIT ?')
  const waiting = sql(`SELECT tenant, run_id, json_extract(head, '$.requires') AS requires FROM heads
    WHERE tenant = ? AND claim_at <= ? ORDER BY claim_at LIMIT ?`)
  const every = sql(
    `SELECT tenant, run_id FROM heads WHERE (tenant, run_id) > (?, ?) ORDER BY tenant, run_id LIMIT ?`,
  )

  const head = ({ tenant, run_id }: RunKey) => {
    const row = getHead.get(tenant, run_id)
    return row && read<Head>(row.head)
  }
  const saveCard = (card: CardRow) => {
    const { run, life, tail, created_at } = card
    putCard.run(run.tenant, run.run_id, life, tail, created_at, jsonText(card))
  }
  const runOf = (row: Record<string, unknown>): RunKey => ({
    tenant: String(row.tenant),
    run_id: String(row.run_id),
  })

  return {
    head: async (run) => head(run),
    heads: async (runs) => runs.map(head),
    commit: (run, expect, change, card) =>
      commits.write(() => {
        const before = head(run)
        if (!meets(before, expect)) return false
        const after = applyChange(before, change)
        putHead.run(run.tenant, run.run_id, after.due_at, after.claim_at, jsonText(after))
        if (card) saveCard(card)
        return true
      }),
    card: async ({ tenant, run_id }) => {
      const row = getCard.get(tenant, run_id)
      return row && read<CardRow>(row.card)
    },
    removeCard: ({ tenant, run_id }, life) => commits.write(() => void dropCard.run(tenant, run_id, life)),
    cards: async (tenant, { order, after, limit }) => {
      const [scan, start] =
        order === 'asc'
          ? [oldest, after ?? { created_at: Number.MIN_SAFE_INTEGER, run_id: '' }]
          : [newest, after ?? { created_at: Number.MAX_SAFE_INTEGER, run_id: '' }]
      return scan.all(tenant, start.created_at, start.run_id, limit).map((row) => read<CardRow>(row.card))
    },
    putTransfer: ({ tenant, run_id }, transfer) =>
      commits.write(() => {
        const { epoch } = transfer
        putTransfer.run(tenant, run_id, epoch, jsonText(transfer))
        forgetTransfers.run(tenant, run_id, epoch - LEASE_HISTORY_MAX)
      }),
    transfers: async ({ tenant, run_id }, limit) =>
      transfers.all(tenant, run_id, limit).map((row) => read<Transfer>(row.transfer)),
    due: async (now, limit) => due.all(now, limit).map(runOf),
    waiting: async (tenant, until, limit) =>
      waiting
        .all(tenant, until, limit)
        .map((row) => ({ run: runOf(row), requires: read<readonly string[]>(row.requires) })),
    everyRun: async (after, limit) => every.all(after?.tenant ?? '', after?.run_id ?? '', limit).map(runOf),
  }
}
