import type { Message } from './document.ts'
import { Fingerprints } from './fingerprints.ts'
import { labelOf } from './label.ts'
import type { SavedMap, StateWriter } from './state.ts'
import { detached } from './values.ts'

/** What is counted over the messages of a document, and the two things an entry wants of the first ones. */
export class MessageTally {
  #messages = 0
  #anonymous = 0
  #prompts = 0
  #toolCalls = 0
  #firstId: string | undefined
  #label: string | undefined
  #ids = new Fingerprints()

  /** @throws Doubt */
  add(message: Message): void {
    if (this.#messages === 0 && message.id !== undefined) this.#firstId = detached(message.id)
    this.#messages++
    if (message.id === undefined) this.#anonymous++
    else this.#ids.add(message.id)
    if (message.kind === 'prompt') {
      if (this.#prompts === 0) this.#label = labelFrom(message)
      this.#prompts++
    }
    for (const block of message.content) if (block.type === 'tool_use') this.#toolCalls++
  }

  /**
   * Whether a message of this id has been counted.
   *
   * @throws Doubt
   */
  has(id: string): boolean {
    return this.#ids.has(id)
  }

  get counts() {
    return {
      messages: this.#messages,
      distinct_messages: this.#ids.size + this.#anonymous,
      prompts: this.#prompts,
      tool_calls: this.#toolCalls,
    }
  }

  get firstId(): string | undefined {
    return this.#firstId
  }

  /** Of the first prompt; undefined when it has no text. */
  get label(): string | undefined {
    return this.#label
  }

  save(out: StateWriter): unknown {
    return {
      messages: this.#messages,
      anonymous: this.#anonymous,
      prompts: this.#prompts,
      tool_calls: this.#toolCalls,
      first_id: this.#firstId,
      label: this.#label,
      ids: this.#ids.save(out),
    }
  }

  static load(saved: SavedMap): MessageTally {
    const tally = new MessageTally()
    tally.#messages = saved.int('messages')
    tally.#anonymous = saved.int('anonymous')
    tally.#prompts = saved.int('prompts')
    tally.#toolCalls = saved.int('tool_calls')
    tally.#firstId = saved.text('first_id')
    tally.#label = saved.text('label')
    tally.#ids = Fingerprints.load(saved.map('ids'))
    return tally
  }
}

function labelFrom(message: Message): string | undefined {
  for (const block of message.content)
    if (block.type === 'text' && block.text !== '') return labelOf(block.text)
  return undefined
}
