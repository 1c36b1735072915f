import type { Json } from '../schema/index.ts'

/**
 * A value kept as its canonical compact JSON bytes: defaults filled in, unknown fields dropped, the secret null, every
 * number in its own spelling. Often a slice of the frame it came from, so holding a window costs little beside the bytes,
 * and answers are written by concatenation.
 */
export class Raw<T = Json> {
  readonly bytes: Uint8Array
  readonly #decode: (bytes: Uint8Array) => T

  constructor(bytes: Uint8Array, decode: (bytes: Uint8Array) => T) {
    this.bytes = bytes
    this.#decode = decode
  }

  /** Decodes again at each call; nothing is cached, so a held list stays as small as its bytes. */
  read(): T {
    return this.#decode(this.bytes)
  }
}
