import type { Block, Message } from '../document.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import { opaque, textOf } from '../values.ts'

/** Role and kind of a `user` or `assistant` row (SESSIONS.md 4.1). */
export function kindOf(
  row: ValueMap,
  model: string | undefined,
  blocks: readonly Block[],
): Pick<Message, 'role' | 'kind'> {
  if (row.get('type') === 'assistant') {
    const role = 'assistant'
    if (row.get('isApiErrorMessage') === true) return { role, kind: 'error' }
    return { role, kind: model === SYNTHETIC ? 'notice' : 'reply' }
  }
  if (blocks.length > 0 && blocks.every(({ type }) => type === 'tool_result')) {
    return { role: 'tool', kind: 'tool_result' }
  }
  if (row.get('isCompactSummary') === true) return { role: 'user', kind: 'compaction_summary' }
  return { role: 'user', kind: row.get('isMeta') === true ? 'injected' : 'prompt' }
}

/** The name the harness gives where no model has spoken. */
export const SYNTHETIC = '<synthetic>'

const BOUNDARY = 'compact_boundary'
/** Subtypes that tell of the harness's own doings. */
const SILENT = new Set<Value | undefined>(['turn_duration', 'agents_killed', 'stop_hook_summary'])

/** A `system` row as a message, if it is one. */
export function systemMessage(row: ValueMap): Pick<Message, 'role' | 'kind' | 'content'> | undefined {
  const subtype = row.get('subtype')
  const content = row.get('content')
  const said = typeof content === 'string' && content !== '' ? content : undefined
  if (subtype === BOUNDARY) {
    const text = said ?? '[conversation compacted]'
    return { role: 'system', kind: 'compaction_boundary', content: [{ type: 'text', text }] }
  }
  if (said === undefined || SILENT.has(subtype)) return undefined
  const failed = subtype === 'api_error' || row.get('level') === 'error'
  return { role: 'system', kind: failed ? 'error' : 'notice', content: [{ type: 'text', text: said }] }
}

const FLAGS = ['isSidechain', 'isMeta', 'isCompactSummary', 'isApiErrorMessage'] as const
const TEXTS = [
  'agentId',
  'slug',
  'logicalParentUuid',
  'sourceToolAssistantUUID',
  'parentToolUseID',
  'toolUseID',
  'subtype',
  'level',
] as const
const OPAQUE = ['compactMetadata', 'error', 'cause', 'toolUseResult'] as const

/** What only this harness knows of a row, in the order of SESSIONS.md 4.1. */
export function extraOf(row: ValueMap, message: ValueMap): ValueMap {
  const extra = new Map<string, Value>()
  const put = (name: string, value: Value | undefined) => value !== undefined && extra.set(name, value)
  put('messageId', textOf(message.get('id')))
  put('requestId', textOf(row.get('requestId')))
  put('stopReason', textOf(message.get('stop_reason')))
  for (const name of FLAGS) if (row.get(name) === true) extra.set(name, true)
  for (const name of TEXTS) put(name, textOf(row.get(name)))
  for (const name of OPAQUE) put(name, opaque(row.get(name)))
  return extra
}
