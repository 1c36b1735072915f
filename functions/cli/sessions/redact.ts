import { cutAtStrings } from './document-lines.ts'

// A view for others: what is archived keeps every byte.

/** Text with its secrets named instead of shown. */
export type Redact = (text: string) => Promise<string>

export const asItIs: Redact = async (text) => text

/** Looking costs about as much for a word as for a page: all are looked at in one, and each alone only where there is something. */
export const redactAll = async (texts: readonly string[], redact: Redact): Promise<readonly string[]> => {
  const all = texts.join('\n')
  return (await redact(all)) === all ? texts : Promise.all(texts.map(redact))
}

/** So much is looked at together, about. */
export const BATCH_LETTERS = 1 << 18

/** Lines of a canonical document. Names in it are looked at, too: those of a tool's input may be anything. */
export async function* redactLines(lines: AsyncIterable<string>, redact: Redact): AsyncGenerator<string> {
  let batch: string[] = []
  let letters = 0
  for await (const line of lines) {
    batch.push(line)
    letters += line.length
    if (letters < BATCH_LETTERS) continue
    yield* await redactBatch(batch, redact)
    batch = []
    letters = 0
  }
  yield* await redactBatch(batch, redact)
}

const redactBatch = async (lines: readonly string[], redact: Redact): Promise<readonly string[]> => {
  const cut = lines.map(cutAtStrings)
  const texts = cut.flatMap(stringsIn)
  const redacted = await redactAll(texts, redact)
  if (redacted === texts) return lines
  let next = 0
  return cut.map((pieces) =>
    pieces
      .map((piece, at) => {
        if (at % 2 === 0) return piece
        const text = redacted[next]
        return text === texts[next++] ? piece : JSON.stringify(text)
      })
      .join(''),
  )
}

const stringsIn = (pieces: readonly string[]): string[] =>
  pieces.filter((_, at) => at % 2 === 1).map((literal) => JSON.parse(literal) as string)
