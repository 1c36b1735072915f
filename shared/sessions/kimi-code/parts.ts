import { imageAt } from '../blocks.ts'
import type { Block } from '../document.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import { listOf, mapOf, textOf } from '../values.ts'

/** The content of a message: a text, or parts. */
export function partsOf(content: Value | undefined): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).flatMap((part) => partOf(mapOf(part)) ?? [])
}

/** A part as a block; one of a type that is not known is left out. */
export function partOf(part: ValueMap): Block | undefined {
  switch (part.get('type')) {
    case 'text':
      return { type: 'text', text: textOf(part.get('text')) ?? '' }
    case 'think':
      return { type: 'thinking', text: textOf(part.get('think')) ?? '' }
    case 'image_url': {
      const spelled = mapOf(part.get('imageUrl') ?? part.get('image_url'))
      return imageAt(textOf(spelled.get('url')))
    }
    default:
      return undefined
  }
}
