import type { RunKey, Transfer } from '../../schema/index.ts'
import { applyChange, meets } from '../head.ts'
import type { CardPlace, CardRow, Head, RunIndex } from '../ports.ts'
import { runName } from '../run-name.ts'

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const byPlace = (a: CardPlace, b: CardPlace) => a.created_at - b.created_at || compare(a.run_id, b.run_id)
const placeOf = (card: CardRow) => ({ created_at: card.created_at, run_id: card.run.run_id })

/** The reference: three Maps by run, each method one synchronous step. */
export function memoryRunIndex(): RunIndex {
  const heads = new Map<string, { readonly run: RunKey; readonly head: Head }>()
  const cards = new Map<string, CardRow>()
  const transfers = new Map<string, Map<number, Transfer>>()
  const runs = () => [...heads.values()].sort((a, b) => compare(runName(a.run), runName(b.run)))

  return {
    head: async (run) => heads.get(runName(run))?.head,
    heads: async (keys) => keys.map((run) => heads.get(runName(run))?.head),
    commit: async (run, expect, change, card) => {
      const name = runName(run)
      const head = heads.get(name)?.head
      if (!meets(head, expect)) return false
      heads.set(name, { run, head: applyChange(head, change) })
      if (card && isNewer(card, cards.get(name))) cards.set(name, card)
      return true
    },
    card: async (run) => cards.get(runName(run)),
    removeCard: async (run, life) => {
      const card = cards.get(runName(run))
      if (card && card.life <= life) cards.delete(runName(run))
    },
    cards: async (tenant, { order, after, limit }) => {
      const sign = order === 'asc' ? 1 : -1
      return [...cards.values()]
        .filter((card) => card.run.tenant === tenant)
        .filter((card) => !after || sign * byPlace(placeOf(card), after) > 0)
        .sort((a, b) => sign * byPlace(placeOf(a), placeOf(b)))
        .slice(0, limit)
    },
    putTransfer: async (run, transfer) => {
      const kept = transfers.get(runName(run)) ?? new Map<number, Transfer>()
      transfers.set(runName(run), kept.set(transfer.epoch, transfer))
    },
    transfers: async (run, limit) =>
      [...(transfers.get(runName(run))?.values() ?? [])].sort((a, b) => b.epoch - a.epoch).slice(0, limit),
    due: async (now, limit) =>
      [...heads.values()]
        .flatMap(({ run, head }) =>
          head.due_at !== null && head.due_at <= now ? [{ run, at: head.due_at }] : [],
        )
        .sort((a, b) => a.at - b.at)
        .slice(0, limit)
        .map(({ run }) => run),
    waiting: async (tenant, until, limit) =>
      [...heads.values()]
        .flatMap(({ run, head }) =>
          run.tenant === tenant && head.claim_at !== null && head.claim_at <= until
            ? [{ run, requires: head.requires, at: head.claim_at }]
            : [],
        )
        .sort((a, b) => a.at - b.at)
        .slice(0, limit)
        .map(({ run, requires }) => ({ run, requires })),
    everyRun: async (after, limit) =>
      runs()
        .filter(({ run }) => !after || compare(runName(run), runName(after)) > 0)
        .slice(0, limit)
        .map(({ run }) => run),
  }
}

/** A card never goes back to an older life, nor to an older tail of the same. */
function isNewer(card: CardRow, than: CardRow | undefined): boolean {
  return !than || card.life > than.life || (card.life === than.life && card.tail >= than.tail)
}
