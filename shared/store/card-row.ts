import { scanRecord, Unreadable } from '../codec/index.ts'
import type { RunCard } from '../fold/index.ts'
import { EMPTY_CARD } from '../fold/index.ts'
import type { Card, RunKey } from '../schema/index.ts'
import { card as cardSchema } from '../schema/index.ts'
import { cardAfter } from './batch.ts'
import { viewOf } from './parts.ts'
import type { CardRow, Head, StorePorts, Ticks } from './ports.ts'
import { BEGINNING, framesFrom } from './reading/frames.ts'

// A run's card stands in two places: what moves with every tick in the head, the rest in a row of its own, which is
// written only when it changes. Put together they are the fold's RunCard.

/** What is shown of a card, in the order of API.md. */
export function cardJson(run: RunKey, card: RunCard): Card {
  const shown: Card = { run_id: run.run_id, ...card }
  return Object.fromEntries(SHOWN.map((name) => [name, shown[name]])) as Card
}

const SHOWN = Object.keys(cardSchema.shape) as (keyof Card)[]

/** The members of a card that stand in the head. */
export function ticksOf(card: RunCard): Ticks {
  return {
    current_stage: card.current_stage,
    iteration: card.iteration,
    prompt_tokens: card.prompt_tokens,
    completion_tokens: card.completion_tokens,
    cached_tokens: card.cached_tokens,
    cache_write_tokens: card.cache_write_tokens,
    tool_calls: card.tool_calls,
    updated_at: card.updated_at,
  }
}

function slowOf(run: RunKey, card: RunCard): CardRow['card'] {
  return {
    run_id: run.run_id,
    agent_name: card.agent_name,
    title: card.title,
    task: card.task,
    status: card.status,
    model: card.model,
    parent_run_id: card.parent_run_id,
    machine_id: card.machine_id,
    world_id: card.world_id,
    started_at: card.started_at,
    error: card.error,
  }
}

/** The row to keep beside a head that is about to be committed. */
export function cardRow(run: RunKey, head: Head, card: RunCard): CardRow {
  const { life, card_tail, created_at } = head
  return { run, life, tail: card_tail, created_at, workdir: card.workdir, card: slowOf(run, card) }
}

/** The card of a head and a row that is fresh. */
export function cardOf(head: Head, row: CardRow): RunCard {
  const { run_id: _key, ...slow } = row.card
  return { ...slow, ...head.ticks, workdir: row.workdir, headed: head.headed }
}

/** Whether listings have to be told. */
export function isSlowChange(run: RunKey, before: RunCard, after: RunCard): boolean {
  const was = slowOf(run, before)
  const changed = Object.entries(slowOf(run, after)).some(
    ([name, value]) => was[name as keyof typeof was] !== value,
  )
  return changed || before.workdir !== after.workdir
}

/** The run's card as of its head. A row whose write was lost is made again from the archive. */
export async function currentCard(ports: StorePorts, run: RunKey, head: Head): Promise<RunCard> {
  if (!head.headed) return { ...EMPTY_CARD, headed: head.headed }
  const row = await ports.index.card(run)
  return row && isFresh(head, row) ? cardOf(head, row) : deriveCard(ports, run, head)
}

/** Whether the row is of the head's life, and no older than its card. */
export function isFresh(head: Head, row: CardRow): boolean {
  return row.life === head.life && row.tail >= head.card_tail
}

async function deriveCard(ports: StorePorts, run: RunKey, head: Head): Promise<RunCard> {
  let card = EMPTY_CARD
  for await (const { payload } of framesFrom(viewOf(ports, run, head), BEGINNING)) {
    const scan = scanRecord(payload)
    if (!(scan instanceof Unreadable)) card = cardAfter(card, [{ kind: scan.kind, payload }])
  }
  return card
}
