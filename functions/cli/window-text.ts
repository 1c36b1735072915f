import type { ContextDelta, ContextSnapshot, Entry, Region, RegionDelta } from '#schema'
import { counted } from '../counted.ts'
import type { Output } from './output.ts'
import { printTable } from './table.ts'
import { oneLine } from './terminal-text.ts'
import { cut } from './text-width.ts'

/** The regions of a window as a table. */
export const printRegions = async (out: Output, window: ContextSnapshot): Promise<void> => {
  const stage = oneLine(window.stage_name) || '-'
  await out.line(`window of stage ${stage}: ${window.total_tokens} of ${window.max_tokens} tokens`)
  await printTable(
    out,
    [
      { title: 'REGION', value: (region) => region.name },
      { title: 'KIND', value: (region) => region.kind, width: 20 },
      { title: 'TOKENS', value: (region) => region.current_tokens, align: 'right' },
      { title: 'LIMIT', value: (region) => region.max_tokens, align: 'right' },
      { title: 'ENTRIES', value: (region) => region.entries?.length ?? 0, align: 'right' },
      { title: 'NEWEST', value: (region) => region.entries?.at(-1)?.content, width: 60 },
    ],
    window.regions,
    'no regions',
  )
}

/** Every entry of a window in full. */
export const printEntries = async (out: Output, window: ContextSnapshot): Promise<void> => {
  for (const region of window.regions) {
    await out.line(out.paint('bold', `\n## ${oneLine(region.name)} (${oneLine(region.kind)})`))
    for (const entry of region.entries ?? []) await printEntry(out, entry)
  }
}

const printEntry = async (out: Output, entry: Entry): Promise<void> => {
  await out.line(out.paint('dim', `-- ${titleOf(entry)}, ${counted(entry.tokens, 'token')}`))
  await out.text(`${entry.content}\n`)
}

const titleOf = ({ kind, key }: Entry): string => {
  const name = key === null || key === undefined ? '' : ` ${oneLine(key)}`
  if (kind.type === 'ToolResult')
    return `${kind.is_error ? 'failed ' : ''}result of ${oneLine(kind.tool_name)}${name}`
  if (kind.type === 'AssistantTurn') {
    const calls = kind.tool_calls.map((call) => oneLine(call.name)).join(', ')
    return `assistant${calls && ` calling ${calls}`}${name}`
  }
  return `${kind.type === 'UserMessage' ? 'user' : 'text'}${name}`
}

/** What a delta does, an operation a line. */
export const printDelta = async (out: Output, delta: ContextDelta): Promise<void> => {
  const stage = oneLine(delta.stage_name) || '-'
  await out.line(`to stage ${stage}: ${delta.total_tokens} of ${delta.max_tokens} tokens`)
  for (const operation of delta.regions) {
    const [mark, style, text] = described(operation)
    await out.line(out.paint(style, `${mark} ${text}`))
  }
  if (delta.regions.length === 0) await out.line('no region changed')
}

const described = (operation: RegionDelta): readonly [string, 'yellow' | 'green' | 'red', string] => {
  if ('Set' in operation)
    return ['=', 'yellow', `${oneLine(operation.Set.name)} is set, ${entriesOf(operation.Set)}`]
  if ('Append' in operation) {
    return ['+', 'green', `${oneLine(operation.Append.name)} grows, ${entriesOf(operation.Append)}`]
  }
  if ('Clear' in operation) return ['-', 'red', `${oneLine(operation.Clear.name)} is cleared`]
  return ['-', 'red', `${oneLine(operation.Remove.name)} is removed`]
}

const entriesOf = ({ entries, current_tokens }: Pick<Region, 'entries' | 'current_tokens'>): string => {
  const list = entries ?? []
  const newest = list.at(-1)
  const sample = newest ? `: ${cut(oneLine(newest.content), 60)}` : ''
  return `${counted(list.length, 'entry', 'entries')}, now ${current_tokens} tokens${sample}`
}
