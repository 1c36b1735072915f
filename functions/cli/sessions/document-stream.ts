import { valueIn } from './document-lines.ts'

// A canonical document (SESSIONS.md 2) taken apart as it comes. In its form no string holds a line end, so what stands how
// far in says what it is: fields of the session after two spaces, messages after four.

export interface Block {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly content?: string
  readonly is_error?: boolean
  readonly tool_name?: string
  readonly file?: { readonly path: string; readonly bytes: number }
  readonly media_type?: string
  readonly data_ref?: string
  readonly redacted?: boolean
}

export interface Message {
  readonly id?: string
  readonly role: string
  readonly kind: string
  readonly timestamp?: string
  readonly model?: string
  readonly content: readonly Block[]
}

/** What stands around the messages. */
export interface SessionFields {
  readonly harness: string
  readonly id: string
  readonly agent?: string
  readonly agents?: readonly {
    readonly id: string
    readonly kind?: string
    readonly description?: string
    readonly spawned_by?: string
  }[]
  readonly problems?: readonly {
    readonly code: string
    readonly path: string
    readonly line?: number
    readonly detail?: string
  }[]
  readonly unknown_records?: Readonly<Record<string, number>>
  readonly lineage?: { readonly forked_from?: string; readonly parent?: string; readonly spawned_by?: string }
}

const LF = 0x0a

/** Lines of a stream as text, without their ends. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      parts.push(chunk.subarray(from, at))
      yield Buffer.concat(parts).toString('utf8')
      parts = []
      from = at + 1
    }
    parts.push(chunk.subarray(from))
  }
  yield Buffer.concat(parts).toString('utf8')
}

/** The messages in their order; when they are through, the fields are known. */
export class DocumentStream {
  readonly #lines: AsyncIterable<string>
  #fields: SessionFields | undefined

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#lines = linesOf(chunks)
  }

  /** @throws where the messages have not been taken to their end */
  get fields(): SessionFields {
    if (this.#fields) return this.#fields
    throw new Error('the document has not been read to its end')
  }

  async *messages(): AsyncGenerator<Message> {
    const around: string[] = []
    let message: string[] | undefined
    let isWithin = false
    for await (const line of this.#lines) {
      if (isWithin && line.startsWith('  ]')) isWithin = false
      if (!isWithin) {
        around.push(line)
        isWithin = line === '  "messages": ['
        continue
      }
      if (line === '    {') message = []
      message?.push(line)
      if (!message || (line !== '    }' && line !== '    },')) continue
      yield valueIn<Message>(message)
      message = undefined
    }
    this.#fields = valueIn<SessionFields>(around)
  }
}
