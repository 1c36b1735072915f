import { SESSION_PATH_BYTES } from '../schema/index.ts'
import type { Block } from './document.ts'
import type { Value } from './exact-json.ts'
import { detached, mapOf, textOf } from './values.ts'

// What the content of several harnesses has in common (SESSIONS.md 4.0).

export const INLINE = 'base64:inline'

/** Content parts as the one text a model saw: texts as they are, `[image]` and the like for the rest, a line each. */
export function flattened(parts: readonly Value[]): string {
  return parts.map(partText).join('\n')
}

const IMAGES = new Set(['image', 'input_image', 'image_url'])

function partText(part: Value): string {
  const fields = mapOf(part)
  const text = fields.get('text')
  if (typeof text === 'string') return text
  const type = textOf(fields.get('type')) ?? ''
  return IMAGES.has(type) ? '[image]' : `[${type}]`
}

const DATA_URL = /^data:([^;,]*)/i

/** An image by its URL; what a data URL holds stays in the raw record. */
export function imageAt(url: string | undefined): Block {
  const data = url === undefined ? null : DATA_URL.exec(url.slice(0, 256))
  return data
    ? { type: 'image', media_type: textOf(data[1]), data_ref: INLINE }
    : { type: 'image', data_ref: url }
}

/**
 * The name of a tool's output file in `tool-results/`, as texts of harnesses mention it; the first one counts. What is longer
 * than a path may be is none.
 */
export function movedOutput(text: string): string | undefined {
  const name = /tool-results[/\\]([A-Za-z0-9_-][A-Za-z0-9._-]*)/.exec(text)?.[1]
  if (name === undefined || name.length > SESSION_PATH_BYTES) return undefined
  return detached(name.replace(/\.+$/, ''))
}
