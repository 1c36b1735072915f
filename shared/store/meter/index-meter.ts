import type { RunKey } from '../../schema/index.ts'
import { applyChange } from '../head.ts'
import type { CardRow, Head, RunIndex, UploadIndex } from '../ports.ts'
import { runName } from '../run-name.ts'
import { type Counter, READ_UNIT, writeUnits } from './counter.ts'
import type { Metered, Tariff } from './tariff.ts'

/** Items of which only a few short members are kept: transfers, uploads, rows of an index. */
const SMALL_ITEM = 512

/** The index, each of whose calls is counted as the requests and units that the tariff makes of it. */
export function meteredIndex(index: RunIndex, tariff: Tariff, count: Counter): RunIndex {
  // As they were last seen: a change tells nothing of the size of what it changes.
  const seen = new Map<string, Head>()
  const see = (run: RunKey, head: Head | undefined) => {
    count.read(head ? tariff.headBytes(run, head) : 0)
    if (head) seen.set(runName(run), head)
    return head
  }
  const walk = (bytes: number, kind: Metered = 'query') => {
    for (let shard = 0; shard < tariff.shards; shard++) {
      count.add(kind, bytes / tariff.shards, Math.max(1, Math.ceil(bytes / tariff.shards / READ_UNIT)) / 2)
    }
  }
  const writeCard = (row: CardRow) => {
    const bytes = tariff.cardBytes(row)
    count.write(bytes, writeUnits(bytes))
  }
  return {
    head: async (run) => see(run, await index.head(run)),
    heads: async (runs) => {
      const heads = await index.heads(runs)
      return runs.map((run, n) => see(run, heads[n]))
    },
    commit: async (run, expect, change, card) => {
      const isMade = await index.commit(run, expect, change, card)
      const before = seen.get(runName(run))
      const after = isMade ? applyChange(before, change) : before
      const sizes = [before, after].map((head) => (head ? tariff.headBytes(run, head) : 0))
      count.write(Math.max(...sizes), isMade ? indexRows(before, after) : 0)
      if (!isMade || !after) return false
      seen.set(runName(run), after)
      count.head(sizes[1] ?? 0)
      if (card) writeCard(card)
      return true
    },
    card: async (run) => {
      const row = await index.card(run)
      count.read(row ? tariff.cardBytes(row) : 0)
      return row
    },
    removeCard: async (run, life) => {
      count.write(SMALL_ITEM, 1)
      await index.removeCard(run, life)
    },
    cards: async (tenant, scan) => {
      const rows = await index.cards(tenant, scan)
      walk(rows.reduce((sum, row) => sum + tariff.cardBytes(row), 0))
      return rows
    },
    putTransfer: async (run, transfer) => {
      count.write(SMALL_ITEM)
      await index.putTransfer(run, transfer)
    },
    transfers: async (run, limit) => {
      const found = await index.transfers(run, limit)
      count.add('query', found.length * SMALL_ITEM, 1)
      return found
    },
    due: async (now, limit) => {
      walk(0, 'look')
      return index.due(now, limit)
    },
    waiting: async (tenant, until, limit) => {
      const found = await index.waiting(tenant, until, limit)
      walk(found.length * SMALL_ITEM)
      return found
    },
    everyRun: async (after, limit) => {
      count.add('query', 0, 1)
      return index.everyRun(after, limit)
    },
  }
}

/** A changed place in an index is a row taken away and a row put. */
function indexRows(before: Head | undefined, after: Head | undefined): number {
  const moved = (was: number | null, is: number | null) => {
    if (was === is) return 0
    return was === null || is === null ? 1 : 2
  }
  return (
    moved(before?.due_at ?? null, after?.due_at ?? null) +
    moved(before?.claim_at ?? null, after?.claim_at ?? null)
  )
}

/** The same of the index of open uploads. */
export function meteredUploadIndex(index: UploadIndex, tariff: Tariff, count: Counter): UploadIndex {
  return {
    put: async (record) => {
      count.write(SMALL_ITEM, 1)
      await index.put(record)
    },
    get: async (run, upload_id) => {
      count.read(SMALL_ITEM)
      return index.get(run, upload_id)
    },
    remove: async (run, upload_id) => {
      count.write(SMALL_ITEM, 1)
      await index.remove(run, upload_id)
    },
    ofRun: async (run) => {
      count.add('query', 0, 1)
      return index.ofRun(run)
    },
    putParts: async (parts) => {
      count.write(SMALL_ITEM, 1)
      await index.putParts(parts)
    },
    removeParts: async (place) => {
      count.write(SMALL_ITEM, 1)
      await index.removeParts(place)
    },
    expired: async (now, limit) => {
      for (let shard = 0; shard < tariff.shards; shard++) count.add('look', 0, 1 / 2)
      return index.expired(now, limit)
    },
  }
}
