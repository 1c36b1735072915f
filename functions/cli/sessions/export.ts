import type { ListedSession } from '#schema'
import { DocumentStream, linesOf } from './document-stream.ts'
import { htmlOf } from './html.ts'
import { markdownOf } from './markdown.ts'
import { asItIs, type Redact, redactLines } from './redact.ts'

export const FORMATS = ['md', 'html', 'json'] as const
export type Format = (typeof FORMATS)[number]

/** A session in a form for others, piece by piece. As JSON it is the canonical document, unredacted byte for byte. */
export async function* exportOf(
  entry: ListedSession,
  chunks: AsyncIterable<Uint8Array>,
  format: Format,
  redact: Redact,
): AsyncGenerator<string | Uint8Array> {
  if (format === 'json') {
    if (redact === asItIs) yield* chunks
    else yield* redactedLines(chunks, redact)
    return
  }
  const document = new DocumentStream(chunks)
  const written = format === 'md' ? markdownOf : htmlOf
  yield* written(entry, document.messages(), () => document.fields, redact)
}

async function* redactedLines(chunks: AsyncIterable<Uint8Array>, redact: Redact): AsyncGenerator<string> {
  let end = ''
  for await (const line of redactLines(linesOf(chunks), redact)) {
    yield `${end}${line}`
    end = '\n'
  }
}
