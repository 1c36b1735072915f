import { frameLength, PREFIX_BYTES } from '../../codec/index.ts'

/**
 * Counts whole frames in bytes that come in chunks of any size, by their length prefixes alone:
 *
 *   | length, 8 bytes big-endian | payload, passed over | length | …
 *
 * so a frame of any size costs no memory.
 */
export class FrameCount {
  frames = 0
  /** Bytes of the whole frames so far. */
  wholeBytes = 0
  readonly #prefix = new Uint8Array(PREFIX_BYTES)
  #prefixFilled = 0
  #payloadLeft = 0
  /** Of the frame under way, once its length is known. */
  #frameBytes = 0
  /** A length over the limit was met: where the next frame begins cannot be told. */
  #isLost = false

  /** Takes the bytes that come next; after a length over the limit it counts no more. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.#isLost; ) {
      at +=
        this.#prefixFilled < PREFIX_BYTES ? this.#takePrefix(chunk, at) : this.#passPayload(chunk.length - at)
    }
  }

  /** Whether the bytes end where a frame does. */
  get isAtBoundary(): boolean {
    return !this.#isLost && this.#prefixFilled === 0
  }

  #takePrefix(chunk: Uint8Array, at: number): number {
    this.#prefix[this.#prefixFilled++] = chunk[at] as number
    if (this.#prefixFilled === PREFIX_BYTES) {
      const length = frameLength(this.#prefix, 0)
      this.#isLost = length === undefined
      this.#payloadLeft = length ?? 0
      this.#frameBytes = PREFIX_BYTES + this.#payloadLeft
      if (length === 0) this.#close()
    }
    return 1
  }

  #passPayload(available: number): number {
    const passed = Math.min(available, this.#payloadLeft)
    this.#payloadLeft -= passed
    if (this.#payloadLeft === 0) this.#close()
    return passed
  }

  #close(): void {
    this.frames++
    this.wholeBytes += this.#frameBytes
    this.#prefixFilled = 0
  }
}
