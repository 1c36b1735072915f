import { JsonNumber } from '../../schema/index.ts'
import { flattened, imageAt } from '../blocks.ts'
import type { Block, ToolResultBlock } from '../document.ts'
import { parseExact, type Value, type ValueMap } from '../exact-json.ts'
import type { ToolNames } from '../tool-names.ts'
import { listOf, mapOf, opaque, textOf } from '../values.ts'

// What tools gave, in the spellings of several years: a text, a JSON object in a text, parts, or an object.

/** A `…_output` item: its result, and the images it brought. */
export function outputBlocks(item: ValueMap, tools: ToolNames): Block[] {
  const id = textOf(item.get('call_id')) ?? textOf(item.get('id')) ?? ''
  const whole = unpacked(item.get('output'))
  const output = whole instanceof Map ? (whole.get('output') ?? whole.get('content')) : whole
  const about = mapOf(whole)
  const failed = about.get('success') === false || hasFailed(mapOf(about.get('metadata')).get('exit_code'))
  const result: ToolResultBlock = {
    type: 'tool_result',
    tool_use_id: id,
    content: typeof output === 'string' ? output : flattened(listOf(output)),
    is_error: failed,
    tool_name: textOf(tools.of(id)),
    status: failed ? 'error' : 'completed',
    details:
      item.get('type') === 'tool_search_output' ? opaque(item.get('tools')) : opaque(about.get('metadata')),
  }
  return [result, ...imagesIn(output)]
}

/** A text that is a JSON object with a text `output` counts as that object. */
function unpacked(output: Value | undefined): Value | undefined {
  if (typeof output !== 'string' || !output.trimStart().startsWith('{')) return output
  const value = parseExact(output)
  return value instanceof Map && typeof value.get('output') === 'string' ? value : output
}

/** Any number but the token `0`. */
function hasFailed(exitCode: Value | undefined): boolean {
  return exitCode instanceof JsonNumber && exitCode.text !== '0'
}

function imagesIn(parts: Value | undefined): Block[] {
  return listOf(parts)
    .map(mapOf)
    .filter((part) => part.get('type') === 'input_image')
    .map((part) => imageAt(textOf(part.get('image_url'))))
}
