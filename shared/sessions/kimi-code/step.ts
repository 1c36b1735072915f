import type { Block, Message, Usage } from '../document.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import { loadBlock, loadMessage } from '../saved-message.ts'
import { usageOf } from '../usage.ts'
import { mapOf, opaque, textOf } from '../values.ts'

const USAGE = {
  input_tokens: 'inputOther',
  output_tokens: 'output',
  cache_read_tokens: 'inputCacheRead',
  cache_creation_tokens: 'inputCacheCreation',
} as const

export function kimiUsage(usage: Value | undefined): Usage | undefined {
  return usageOf(mapOf(usage), USAGE)
}

interface Begun {
  readonly id: string | undefined
  readonly at: string | undefined
  readonly model: string | undefined
}

/** One turn of the model and its tools, from `step.begin` to what closes it. Until then nothing of it is final. */
export class Step {
  readonly #id: string | undefined
  readonly #at: string | undefined
  readonly #model: string | undefined
  readonly #extra: Map<string, Value>
  readonly #blocks: Block[]
  readonly #results: Message[]

  constructor(begun: Begun, event: ValueMap) {
    this.#id = begun.id
    this.#at = begun.at
    this.#model = begun.model
    this.#extra = new Map()
    this.#blocks = []
    this.#results = []
    this.#note(event, ['turnId', 'step'])
  }

  add(block: Block): void {
    this.#blocks.push(block)
  }

  /** The messages of tools follow that of the step, in order. */
  result(message: Message): void {
    this.#results.push(message)
  }

  /** Its messages as they are now. `end` is the event that closes it, if one does. */
  messages(end?: ValueMap): Message[] {
    if (end) this.#note(end, ['messageId', 'finishReason'])
    const usage = kimiUsage(end?.get('usage'))
    if (this.#blocks.length === 0 && usage === undefined) return this.#results
    const reply: Message = {
      id: this.#id,
      role: 'assistant',
      kind: 'reply',
      timestamp: this.#at,
      model: this.#model,
      content: this.#blocks,
      usage,
      extra: this.#extra,
    }
    return [reply, ...this.#results]
  }

  save(): unknown {
    const begun = { id: this.#id, at: this.#at, model: this.#model }
    return { ...begun, extra: this.#extra, blocks: this.#blocks, results: this.#results }
  }

  static load(saved: ValueMap): Step {
    const [id, at, model] = ['id', 'at', 'model'].map((name) => textOf(saved.get(name)))
    const step = new Step({ id, at, model }, mapOf(saved.get('extra')))
    step.#blocks.push(...(saved.get('blocks') as ValueMap[]).map(loadBlock))
    step.#results.push(...(saved.get('results') as ValueMap[]).map(loadMessage))
    return step
  }

  #note(event: ValueMap, names: readonly string[]): void {
    for (const name of names) {
      const value = opaque(event.get(name))
      if (value !== undefined) this.#extra.set(name, value)
    }
  }
}
