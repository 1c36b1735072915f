import type { Harness } from '#schema'
import { derive, heldFiles } from './session-files.ts'

/** A document as JSON.parse gives it, for tests that look at some of its fields. */
export interface PlainDocument {
  readonly messages: readonly PlainMessage[]
  readonly [field: string]: unknown
}

interface PlainMessage {
  readonly role: string
  readonly kind: string
  readonly content: readonly PlainBlock[]
  readonly extra?: Record<string, unknown>
  readonly [field: string]: unknown
}

interface PlainBlock {
  readonly type: string
  readonly text?: string
  readonly [field: string]: unknown
}

const PATHS = {
  'claude-code': 's.jsonl',
  codex: 'rollout-s.jsonl',
  'kimi-code': 'agents/main/wire.jsonl',
} as const

type Text = Readonly<Record<string, string>>

/** The document of session `s` with these records, and these files beside its transcript. */
export async function documentOf(
  harness: Harness,
  records: readonly object[],
  beside: Text = {},
  agent?: string,
) {
  const transcript = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  const texts: [string, string][] = [[PATHS[harness], transcript], ...Object.entries(beside)]
  const bytes = (text: string) => ({ bytes: new TextEncoder().encode(text) })
  const files = heldFiles(new Map(texts.map(([path, text]) => [path, bytes(text)])))
  const { document } = await derive({ harness, id: 's', agent, files })
  return JSON.parse(new TextDecoder().decode(document)) as PlainDocument
}

/** `[kind, first text]` of each message. */
export function shown({ messages }: PlainDocument): (readonly [string, string | undefined])[] {
  return messages.map(({ kind, content }) => [kind, content.find((block) => block.type === 'text')?.text])
}
