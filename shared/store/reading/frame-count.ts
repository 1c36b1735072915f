import { MAX_FRAME_BYTES } from '../../codec/index.ts'

const PREFIX_BYTES = 8

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
  #prefix = new DataView(new ArrayBuffer(PREFIX_BYTES))
  #prefixFilled = 0
  #payloadLeft = 0
  #seen = 0
  #isLost = false

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
    this.#prefix.setUint8(this.#prefixFilled++, chunk[at] as number)
    if (this.#prefixFilled === PREFIX_BYTES) {
      const length = this.#prefix.getBigUint64(0)
      this.#isLost = length > MAX_FRAME_BYTES
      this.#payloadLeft = Number(length)
      this.#seen = PREFIX_BYTES + this.#payloadLeft
      if (length === 0n) this.#close()
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
    this.wholeBytes += this.#seen
    this.#prefixFilled = 0
  }
}
