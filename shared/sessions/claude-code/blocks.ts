import { flattened, INLINE, imageAt } from '../blocks.ts'
import type { Block } from '../document.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import type { ToolNames } from '../tool-names.ts'
import { listOf, mapOf, textOf } from '../values.ts'

/** The content of a message; blocks of a type that is not known are left out. */
export function blocksOf(content: Value | undefined, tools: ToolNames): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listOf(content).flatMap((item) => blockOf(mapOf(item), tools) ?? [])
}

function blockOf(block: ValueMap, tools: ToolNames): Block | undefined {
  switch (block.get('type')) {
    case 'text':
      return { type: 'text', text: textOf(block.get('text')) ?? '' }
    case 'thinking': {
      const text = textOf(block.get('thinking')) ?? ''
      return { type: 'thinking', text, signature: textOf(block.get('signature')) }
    }
    case 'redacted_thinking':
      return { type: 'thinking', text: '', encrypted: textOf(block.get('data')), redacted: true }
    case 'tool_use':
      return toolUse(block, tools)
    case 'tool_result':
      return toolResult(block, tools)
    case 'image':
      return image(mapOf(block.get('source')))
    case 'document':
      return document(block, mapOf(block.get('source')))
    default:
      return undefined
  }
}

function toolUse(block: ValueMap, tools: ToolNames): Block {
  const id = textOf(block.get('id')) ?? ''
  const name = textOf(block.get('name')) ?? ''
  tools.called(id, name)
  return { type: 'tool_use', id, name, input: block.get('input') ?? null }
}

function toolResult(block: ValueMap, tools: ToolNames): Block {
  const id = textOf(block.get('tool_use_id')) ?? ''
  const content = block.get('content')
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: typeof content === 'string' ? content : flattened(listOf(content)),
    is_error: block.get('is_error') === true,
    tool_name: textOf(tools.of(id)),
  }
}

function image(source: ValueMap): Block {
  const media = textOf(source.get('media_type'))
  const ref = referenceOf(source)
  const at = imageAt(ref)
  return at.type === 'image' && media !== undefined ? { ...at, media_type: media } : at
}

function document(block: ValueMap, source: ValueMap): Block {
  const ref = source.get('type') === 'text' ? 'text:inline' : referenceOf(source)
  return {
    type: 'file',
    media_type: textOf(source.get('media_type')),
    name: textOf(block.get('title')),
    data_ref: ref,
  }
}

function referenceOf(source: ValueMap): string | undefined {
  switch (source.get('type')) {
    case 'base64':
      return INLINE
    case 'url':
      return textOf(source.get('url'))
    case 'file': {
      const id = textOf(source.get('file_id'))
      return id === undefined ? undefined : `file:${id}`
    }
    default:
      return undefined
  }
}
