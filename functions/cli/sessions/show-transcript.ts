import type { Output } from '../output.ts'
import { manyLines, oneLine } from '../terminal-text.ts'
import { cut } from '../text-width.ts'
import type { Message } from './document-stream.ts'
import { headingOf, type Part, partsOf } from './transcript.ts'

export interface Shown {
  /** Whole texts of tools and thinking, instead of their first lines. */
  readonly full: boolean
}

const FOLDED_LINES = 6

/** A message as a person reads it in a terminal. */
export const showMessage = async (out: Output, message: Message, { full }: Shown): Promise<void> => {
  await out.line()
  await out.line(out.paint('bold', oneLine(headingOf(message))))
  for (const part of partsOf(message)) await showPart(out, part, full)
}

const showPart = async (out: Output, part: Part, full: boolean): Promise<void> => {
  switch (part.as) {
    case 'text':
      return out.line(manyLines(part.text))
    case 'thinking':
      return out.line(out.paint('dim', folded(`thinking: ${part.text}`, full ? undefined : 1, out.columns)))
    case 'call':
      return out.line(
        `${out.paint('cyan', `→ ${oneLine(part.name)}`)} ${folded(part.text, full ? undefined : 1, out.columns)}`,
      )
    case 'result': {
      const mark = out.paint(
        part.isError ? 'red' : 'green',
        `← ${oneLine(part.name)}${part.isError ? ' failed' : ''}`,
      )
      await out.line(mark)
      return out.line(folded(part.text, full ? undefined : FOLDED_LINES, out.columns))
    }
    case 'placeholder':
      return out.line(out.paint('dim', oneLine(part.text)))
  }
}

/** The first lines, and how many more there are. */
const folded = (text: string, lines: number | undefined, width: number): string => {
  if (lines === undefined) return manyLines(text)
  const all = text.split('\n')
  const shown = all.slice(0, lines).map((line) => cut(oneLine(line.slice(0, width * 4)), width))
  const more = all.length - shown.length
  return more > 0 ? `${shown.join('\n')} … ${more} more line${more === 1 ? '' : 's'}` : shown.join('\n')
}
