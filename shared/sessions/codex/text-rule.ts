import type { ValueMap } from '../exact-json.ts'
import type { SavedMap } from '../state.ts'
import { listOf, mapOf, textOf } from '../values.ts'

// Codex may write a text twice, as an event and as an item. Which one counts is decided for each role from the file alone
// (SESSIONS.md 4.2, the text rule):
//
//   an event first, or behind an item before it is decided      events: items of that role are silent
//   an item with text, and no event in the 32 records behind    items: later events of that role are silent
//   in between                                                  undecided: items are used, and held back
//   neither                                                     events

/** The record so far behind the first item decides, whatever it is. */
const PATIENCE = 33

export type SpeakingRole = 'user' | 'assistant'

type Decision = 'none' | 'undecided' | 'events' | 'items'

const ROLES: readonly SpeakingRole[] = ['user', 'assistant']

/** Looks at every record once, in order. */
export class TextRule {
  readonly #decisions: Record<SpeakingRole, { decision: Decision; first: number }>

  constructor(saved?: SavedMap) {
    const load = (role: SpeakingRole) => {
      const decision = (saved?.map(role).text('decision') ?? 'none') as Decision
      return { decision, first: saved?.map(role).int('first') ?? 0 }
    }
    this.#decisions = { user: load('user'), assistant: load('assistant') }
  }

  /** Records are numbered from 1. */
  see(record: ValueMap, number: number): void {
    for (const role of ROLES) {
      const state = this.#decisions[role]
      if (state.decision === 'events' || state.decision === 'items') continue
      if (state.decision === 'undecided' && number >= state.first + PATIENCE) state.decision = 'items'
      else if (isEventOf(role, record)) state.decision = 'events'
      else if (state.decision === 'none' && isTextOf(role, record)) {
        state.decision = 'undecided'
        state.first = number
      }
    }
  }

  /** From this record on nothing is final; Infinity when everything is. */
  get heldFrom(): number {
    const open = Object.values(this.#decisions).filter(({ decision }) => decision === 'undecided')
    return Math.min(...open.map(({ first }) => first))
  }

  /** Whether an item of that role at this record is shown. */
  usesItem(role: SpeakingRole, number: number): boolean {
    const { decision, first } = this.#decisions[role]
    return (decision === 'items' || decision === 'undecided') && number >= first
  }

  /** Whether an event of that type is shown: any but the texts of a role that speaks in items. */
  usesEvent(type: string): boolean {
    return !ROLES.some((role) => EVENTS[role] === type && this.#decisions[role].decision === 'items')
  }

  save(): unknown {
    return this.#decisions
  }
}

const EVENTS = { user: 'user_message', assistant: 'agent_message' } as const

function isEventOf(role: SpeakingRole, record: ValueMap): boolean {
  return record.get('type') === 'event_msg' && mapOf(record.get('payload')).get('type') === EVENTS[role]
}

function isTextOf(role: SpeakingRole, record: ValueMap): boolean {
  const item = mapOf(record.get('payload'))
  return (
    record.get('type') === 'response_item' &&
    isMessageItem(item) &&
    item.get('role') === role &&
    listOf(item.get('content')).some((part) => isText(mapOf(part)))
  )
}

/** A message item says so, or has what one needs. */
export function isMessageItem(item: ValueMap): boolean {
  const type = item.get('type')
  return type === 'message' || (type === undefined && item.has('role') && item.has('content'))
}

const TEXTS = new Set(['input_text', 'output_text', 'text'])

/** A part of a message item that is text. */
export function isText(part: ValueMap): boolean {
  return TEXTS.has(textOf(part.get('type')) ?? '') && textOf(part.get('text')) !== undefined
}
