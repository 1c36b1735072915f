import type { HeldRecord, Raw } from '../codec/index.ts'
import type { Card, RunMeta } from '../schema/index.ts'
import { type Folding, NO_HEADER } from './fold.ts'

/** What listings show of a run, as its records say it; unknown members are null until a readable Header came first. */
export interface RunCard extends Omit<Card, 'run_id'> {
  /** Searched, not shown. */
  readonly workdir: string | null
  /** Whether the first readable record is a Header; null while there is none. */
  readonly headed: boolean | null
}

/** Of a run without any readable record. */
export const EMPTY_CARD: RunCard = {
  agent_name: null,
  title: null,
  task: null,
  status: null,
  current_stage: null,
  iteration: null,
  model: null,
  parent_run_id: null,
  machine_id: null,
  world_id: null,
  started_at: null,
  updated_at: null,
  prompt_tokens: null,
  completion_tokens: null,
  cached_tokens: null,
  cache_write_tokens: null,
  tool_calls: null,
  error: null,
  workdir: null,
  headed: null,
}

/** The card one readable record further; nothing is believed of a run that does not begin with a Header. */
export function cardStep(card: RunCard, record: HeldRecord): RunCard {
  if (card.headed === null) card = { ...card, headed: record.kind === 'Header' }
  if (!card.headed) return card
  switch (record.kind) {
    case 'Header': {
      const { machine_id, world_id } = record.identity
      return {
        ...card,
        ...fromMeta(record.meta),
        machine_id: cutText(machine_id),
        world_id: cutText(world_id),
      }
    }
    case 'Progress':
    case 'Checkpoint':
      return { ...card, ...fromMeta(record.meta) }
    case 'StatusChanged':
      return { ...card, status: record.status }
    case 'OwnershipChanged':
      return { ...card, machine_id: cutText(record.machine_id), world_id: cutText(record.world_id) }
    default:
      return card
  }
}

/** The same card from a state: all that the steps to it have left. */
export function cardOfState(folding: Folding): RunCard {
  if (folding === undefined) return EMPTY_CARD
  if (folding === NO_HEADER) return { ...EMPTY_CARD, headed: false }
  const { machine_id, world_id } = folding.identity
  const worker = { machine_id: cutText(machine_id), world_id: cutText(world_id) }
  return { ...fromMeta(folding.meta.raw), ...worker, headed: true }
}

function fromMeta(raw: Raw<RunMeta>): Omit<RunCard, 'machine_id' | 'world_id' | 'headed'> {
  const meta = raw.read()
  return {
    agent_name: cutText(meta.agent_name),
    title: cutOrNull(meta.title),
    task: cutText(meta.task),
    status: meta.status,
    current_stage: cutText(meta.current_stage, STAGE_BYTES),
    iteration: meta.iteration,
    model: cutOrNull(meta.model),
    parent_run_id: cutOrNull(meta.parent_run_id),
    started_at: meta.started_at,
    updated_at: meta.updated_at,
    prompt_tokens: meta.prompt_tokens,
    completion_tokens: meta.completion_tokens,
    cached_tokens: meta.cached_tokens,
    cache_write_tokens: meta.cache_write_tokens,
    tool_calls: meta.tool_calls,
    error: cutOrNull(meta.error),
    workdir: cutText(meta.workdir),
  }
}

/** Bytes of UTF-8 that a card keeps of a text, so that no index item grows with what users write. */
export const CARD_TEXT_BYTES = 1024
/** The stage stands in the head, which every append writes. */
const STAGE_BYTES = 256

const encoder = new TextEncoder()
const room = new Uint8Array(CARD_TEXT_BYTES)

/** The longest beginning of a text that fits, cut between characters. @param bytes up to CARD_TEXT_BYTES */
export function cutText(text: string, bytes: number = CARD_TEXT_BYTES): string {
  if (text.length * 3 <= bytes) return text
  // @NOTE encodeInto stops before a character that does not fit, and `read` counts UTF-16 units.
  return text.slice(0, encoder.encodeInto(text, room.subarray(0, bytes)).read)
}

const cutOrNull = (text: string | null) => (text === null ? null : cutText(text))
