import { extendDigest } from '../codec/index.ts'
import type { Harness } from '../schema/index.ts'
import type { Message, Trailer } from './document.ts'
import { messageFields, trailerFields } from './document-fields.ts'
import { PrettyWriter } from './pretty.ts'

/** Where a document stands that is only begun: its length so far, and its digest to go on from. */
export interface WrittenSoFar {
  readonly bytes: number
  readonly messages: number
  /** Of `extendDigest`; null before the first byte. */
  readonly hash: string | null
}

export const NOTHING_WRITTEN: WrittenSoFar = { bytes: 0, messages: 0, hash: null }

/** Letters that may wait before they are worth a chunk. Larger texts outlive their record, and so cost memory they need not. */
const CHUNK = 16_384

/** Writes one document from its beginning, or from the end of its stable messages on. */
export class DocumentWriter {
  readonly #harness: Harness
  readonly #out = new PrettyWriter()
  #bytes: number
  #messages: number
  #hash: string | null
  #digest = ''

  constructor(of: { harness: Harness; id: string; agent?: string | undefined }, from = NOTHING_WRITTEN) {
    this.#harness = of.harness
    this.#bytes = from.bytes
    this.#messages = from.messages
    this.#hash = from.hash
    if (from.bytes > 0) return
    const { harness, id, agent } = of
    this.#out.raw('{\n  ')
    this.#out.members({ schema: 1, harness, id, agent }, 0)
    this.#out.raw(',\n  "messages": [')
  }

  message(message: Message): void {
    this.#out.raw(this.#messages === 0 ? '\n    ' : ',\n    ')
    this.#out.value(messageFields(message, this.#harness), 2)
    this.#messages++
  }

  trailer(trailer: Trailer): void {
    this.#out.raw(this.#messages === 0 ? '],\n  ' : '\n  ],\n  ')
    this.#out.members(trailerFields(trailer, this.#harness), 0)
    this.#out.raw('\n}')
  }

  /** Whether what waits is worth a chunk. */
  get hasChunk(): boolean {
    return this.#out.waiting >= CHUNK
  }

  /** What has been written since the last call. */
  *take(): Generator<Uint8Array<ArrayBuffer>> {
    for (const chunk of this.#out.take()) {
      const extended = extendDigest(this.#hash, [chunk])
      if (extended === undefined) throw new Error('a hash state of our own cannot be read')
      this.#hash = extended.state
      this.#digest = extended.digest
      this.#bytes += chunk.length
      yield chunk
    }
  }

  /** Once everything has been taken. */
  soFar(): WrittenSoFar & { readonly digest: string } {
    return { bytes: this.#bytes, messages: this.#messages, hash: this.#hash, digest: this.#digest }
  }
}
