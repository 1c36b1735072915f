import type { Message } from '../document.ts'
import type { ValueMap } from '../exact-json.ts'
import { mapOf, textOf } from '../values.ts'
import { partsOf } from './parts.ts'

/** An appended message; of a user's, its origin tells whether anybody asked. */
export function messageOf(message: ValueMap, at: string | undefined, model: string | undefined): Message {
  const origin = mapOf(message.get('origin'))
  const from = textOf(origin.get('kind')) ?? 'user'
  const extra = from === 'user' ? undefined : new Map([['origin', origin]])
  const said = { timestamp: at, content: partsOf(message.get('content')), extra }
  switch (message.get('role')) {
    case 'assistant':
      return { role: 'assistant', kind: 'reply', model, ...said }
    case 'system':
      return { role: 'system', kind: 'notice', ...said }
    case 'tool':
      return { role: 'tool', kind: 'tool_result', ...said }
    default: {
      const isPrompt = from === 'user' || (from === 'system_trigger' && origin.get('name') === 'subagent')
      return { role: 'user', kind: isPrompt ? 'prompt' : 'injected', ...said }
    }
  }
}
