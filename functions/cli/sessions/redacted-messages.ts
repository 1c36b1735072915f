import type { Message } from './document-stream.ts'
import { BATCH_LETTERS, type Redact, redactAll } from './redact.ts'
import { headingOf, type Part, partsOf } from './transcript.ts'

/** A message for others. */
export interface RedactedMessage {
  readonly heading: string
  readonly parts: readonly Part[]
}

/** Everything that a session says is looked at: the name of a tool and of a model, too. */
export async function* redactedMessages(
  messages: AsyncIterable<Message>,
  redact: Redact,
): AsyncGenerator<RedactedMessage> {
  let batch: RedactedMessage[] = []
  let letters = 0
  for await (const message of messages) {
    const shown = { heading: headingOf(message), parts: partsOf(message) }
    batch.push(shown)
    for (const text of textsOf(shown)) letters += text.length
    if (letters < BATCH_LETTERS) continue
    yield* await redactBatch(batch, redact)
    batch = []
    letters = 0
  }
  yield* await redactBatch(batch, redact)
}

const redactBatch = async (
  batch: readonly RedactedMessage[],
  redact: Redact,
): Promise<readonly RedactedMessage[]> => {
  const texts = batch.flatMap(textsOf)
  const redacted = await redactAll(texts, redact)
  if (redacted === texts) return batch
  let at = 0
  const next = () => redacted[at++] as string
  return batch.map(({ parts }) => ({
    heading: next(),
    parts: parts.map((part) =>
      'name' in part ? { ...part, text: next(), name: next() } : { ...part, text: next() },
    ),
  }))
}

/** In the order in which they are put back. */
const textsOf = ({ heading, parts }: RedactedMessage): string[] => [
  heading,
  ...parts.flatMap((part) => ('name' in part ? [part.text, part.name] : [part.text])),
]
