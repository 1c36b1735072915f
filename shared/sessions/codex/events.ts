import { imageAt } from '../blocks.ts'
import type { Block } from '../document.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import { listOf, numberOf, textOf } from '../values.ts'
import { phaseOf, type Said } from './items.ts'

const SILENT = new Set([
  'task_started',
  'task_complete',
  'turn_started',
  'turn_complete',
  'context_compacted',
  'web_search_begin',
  'web_search_end',
  'turn_diff',
  'plan_update',
  'item_started',
  'item_completed',
  'background_event',
  'session_configured',
])
const SILENT_KINDS = ['agent_reasoning', 'exec_command_', 'patch_apply_', 'mcp_tool_call_'] as const

/** An `event_msg` as a message; undefined when it shows nothing, null when its type is not known. */
export function eventMessage(event: ValueMap): Said | undefined | null {
  const type = textOf(event.get('type')) ?? ''
  switch (type) {
    case 'user_message':
      return userMessage(event)
    case 'agent_message': {
      const text = textOf(event.get('message'))
      return text === undefined
        ? undefined
        : { role: 'assistant', kind: 'reply', content: [{ type: 'text', text }], extra: phaseOf(event) }
    }
    case 'view_image_tool_call':
      return viewedImage(event)
    case 'turn_aborted':
      return notice(`[turn aborted: ${textOf(event.get('reason')) ?? 'unknown'}]`)
    case 'thread_rolled_back':
      return notice(`[thread rolled back: ${numberOf(event.get('num_turns'))?.text ?? 'unknown'} turns]`)
    case 'error':
      return { role: 'system', kind: 'error', content: [text(textOf(event.get('message')) ?? '[error]')] }
    default:
      return SILENT.has(type) || SILENT_KINDS.some((kind) => type.startsWith(kind)) ? undefined : null
  }
}

function userMessage(event: ValueMap): Said | undefined {
  const said = textOf(event.get('message'))
  const urls = [...listOf(event.get('images')), ...listOf(event.get('local_images'))]
  const images = urls.flatMap((url: Value) => (textOf(url) === undefined ? [] : [imageAt(textOf(url))]))
  const content = [...(said === undefined ? [] : [text(said)]), ...images]
  return content.length === 0 ? undefined : { role: 'user', kind: 'prompt', content }
}

function viewedImage(event: ValueMap): Said {
  const call = textOf(event.get('call_id'))
  const extra = call === undefined ? undefined : new Map([['call_id', call]])
  const content: Block[] = [{ type: 'image', data_ref: textOf(event.get('path')) }]
  return { role: 'assistant', kind: 'reply', content, extra }
}

function notice(said: string): Said {
  return { role: 'system', kind: 'notice', content: [text(said)] }
}

function text(said: string): Block {
  return { type: 'text', text: said }
}
