import { INLINE, imageAt } from '../blocks.ts'
import type { Block, Message } from '../document.ts'
import { parseExact, type Value, type ValueMap } from '../exact-json.ts'
import type { ToolNames } from '../tool-names.ts'
import { listOf, mapOf, textOf } from '../values.ts'
import { isMessageItem, isText, type SpeakingRole } from './text-rule.ts'
import { outputBlocks } from './tool-output.ts'

/** A message but for its time and model, which are the record's and the turn's. */
export type Said = Pick<Message, 'id' | 'role' | 'kind' | 'content' | 'extra'>

const SILENT = new Set(['compaction', 'compaction_summary', 'context_compaction', 'ghost_snapshot', 'other'])

/** What tells which role speaks in an item; undefined for items that are no texts of a user or an assistant. */
export function speakerOf(item: ValueMap): SpeakingRole | undefined {
  const role = item.get('role')
  return isMessageItem(item) && (role === 'user' || role === 'assistant') ? role : undefined
}

/** A `response_item` as a message; undefined when it shows nothing, null when its type is not known. */
export function itemMessage(item: ValueMap, tools: ToolNames): Said | undefined | null {
  if (isMessageItem(item)) return textMessage(item)
  const type = textOf(item.get('type')) ?? ''
  switch (type) {
    case 'reasoning':
      return reasoning(item)
    case 'function_call':
      return call(item, textOf(item.get('name')), decoded(item.get('arguments')), tools)
    case 'custom_tool_call':
      return call(item, textOf(item.get('name')), decoded(item.get('input')), tools)
    case 'local_shell_call':
      return call(item, 'local_shell', item.get('action'), tools)
    case 'web_search_call':
      return call(item, 'web_search', item.get('action'), tools)
    case 'tool_search_call':
      return call(item, 'tool_search', decoded(item.get('arguments')) ?? item.get('action'), tools)
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'tool_search_output':
      return { role: 'tool', kind: 'tool_result', content: outputBlocks(item, tools) }
    case 'image_generation_call':
      return reply([{ type: 'image', data_ref: INLINE }], textOf(item.get('id')))
    default:
      return SILENT.has(type) ? undefined : null
  }
}

/** Context that the harness speaks in the user's name. */
const INJECTED = [
  '<environment_context>',
  '<user_instructions>',
  '<turn_aborted>',
  '<skill>',
  '# AGENTS.md instructions',
] as const

function textMessage(item: ValueMap): Said | undefined {
  const content = listOf(item.get('content')).flatMap((part) => partOf(mapOf(part)) ?? [])
  if (content.length === 0) return undefined
  const said = { id: textOf(item.get('id')), content, extra: phaseOf(item) }
  const role = item.get('role')
  if (role === 'assistant') return { ...said, role, kind: 'reply' }
  if (role !== 'user') return { ...said, role: 'system', kind: 'injected' }
  const text = content.find((block) => block.type === 'text')?.text ?? ''
  return { ...said, role, kind: INJECTED.some((mark) => text.startsWith(mark)) ? 'injected' : 'prompt' }
}

function partOf(part: ValueMap): Block | undefined {
  if (isText(part)) return { type: 'text', text: textOf(part.get('text')) ?? '' }
  return part.get('type') === 'input_image' ? imageAt(textOf(part.get('image_url'))) : undefined
}

function reasoning(item: ValueMap): Said | undefined {
  const content = textsOf(item.get('content'))
  const summary = textsOf(item.get('summary'))
  const text = content ?? summary ?? ''
  const encrypted = textOf(item.get('encrypted_content'))
  if (text === '' && encrypted === undefined) return undefined
  const differs = content !== undefined && summary !== undefined && content !== summary
  const extra = differs ? new Map([['reasoning_summary', summary]]) : undefined
  return { ...reply([{ type: 'thinking', text, encrypted }], textOf(item.get('id'))), extra }
}

function textsOf(parts: Value | undefined): string | undefined {
  const texts = listOf(parts).flatMap((part) => textOf(mapOf(part).get('text')) ?? [])
  return texts.length === 0 ? undefined : texts.join('\n')
}

function call(item: ValueMap, name = '', input: Value | undefined, tools: ToolNames): Said {
  const id = textOf(item.get('call_id')) ?? textOf(item.get('id')) ?? ''
  tools.called(id, name)
  return reply([
    { type: 'tool_use', id, name, namespace: textOf(item.get('namespace')), input: input ?? null },
  ])
}

/** Arguments come as text; a JSON object or array in it is what was meant, anything else stays the text it is. */
function decoded(argument: Value | undefined): Value | undefined {
  if (typeof argument !== 'string' || !/^\s*[{[]/.test(argument)) return argument
  return parseExact(argument) ?? argument
}

function reply(content: readonly Block[], id?: string): Said {
  return { id, role: 'assistant', kind: 'reply', content }
}

/** Whether an assistant was still at work, or had done, when it said this. */
export function phaseOf(record: ValueMap): ValueMap | undefined {
  const phase = textOf(record.get('phase'))
  return phase === undefined ? undefined : new Map([['phase', phase]])
}
