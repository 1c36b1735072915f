import { jsonText } from '#codec'
import type { ListedSession } from '#schema'
import { counted } from '../../counted.ts'
import type { Block, Message, SessionFields } from './document-stream.ts'

/** What a part of a message is to a reader, whatever it is shown on. */
export type Part =
  | { readonly as: 'text'; readonly text: string }
  | { readonly as: 'thinking'; readonly text: string }
  | { readonly as: 'call'; readonly name: string; readonly text: string; readonly id: string | undefined }
  | { readonly as: 'result'; readonly name: string; readonly text: string; readonly isError: boolean }
  | { readonly as: 'placeholder'; readonly text: string }

export const partsOf = ({ content }: Message): readonly Part[] => content.map(partOf)

const partOf = (block: Block): Part => {
  const { type, text = '', name = '', media_type = 'unknown type', data_ref, file } = block
  switch (type) {
    case 'text':
      return { as: 'text', text }
    case 'thinking':
      return { as: 'thinking', text: text || 'thought that was not given in clear' }
    case 'tool_use':
      return { as: 'call', name, text: block.input === undefined ? '' : jsonText(block.input), id: block.id }
    case 'tool_result': {
      const moved = file ? `\n[${counted(file.bytes, 'byte')} in ${file.path}]` : ''
      const isError = block.is_error === true
      return {
        as: 'result',
        name: block.tool_name ?? 'tool',
        text: `${block.content ?? ''}${moved}`,
        isError,
      }
    }
    default:
      // What it refers to is never fetched.
      return { as: 'placeholder', text: `[${type} ${name} ${media_type}${data_ref ? `, ${data_ref}` : ''}]` }
  }
}

/** Such as `assistant, model-1, 2026-11-02T09:00:00.120Z`. */
export const headingOf = ({ role, kind, model, timestamp }: Message): string => {
  const who =
    kind === 'prompt' || kind === 'reply' || kind === 'tool_result'
      ? role
      : `${role} (${kind.replaceAll('_', ' ')})`
  return [who, model, timestamp].filter(Boolean).join(', ')
}

/** What is to be known of a session before it is read; names and values. */
export const factsOf = (entry: ListedSession): readonly (readonly [string, string])[] => {
  const { harness, id, machine, cwd, model, created_at, updated_at } = entry
  const facts = { harness, session: id, machine, folder: cwd, model, from: created_at, to: updated_at }
  return Object.entries(facts).flatMap(([name, value]) => (value ? [[name, value] as const] : []))
}

/** Such as `bad_json in a.jsonl, line 5`. */
export const sayProblem = ({ code, path, line }: NonNullable<SessionFields['problems']>[number]): string =>
  `${code} in ${path}${line === undefined ? '' : `, line ${line}`}`
