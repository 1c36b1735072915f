import type { Json } from '../schema/index.ts'

/**
 * A value kept as its canonical compact JSON bytes: defaults filled in, unknown fields dropped, the secret null, every
 * number in its own spelling. Often a slice of the frame it came from, so holding a window costs little beside the bytes,
 * and answers are written by concatenation.
 */
export class Raw<T = Json> {
  readonly #source: Uint8Array
  readonly #start: number
  readonly #end: number
  readonly #decode: (bytes: Uint8Array) => T

  /** Holds the bytes of the source from `start` to `end`. */
  constructor(source: Uint8Array, decode: (bytes: Uint8Array) => T, start = 0, end = source.length) {
    this.#source = source
    this.#start = start
    this.#end = end
    this.#decode = decode
  }

  /** A view made at each call: most of what is held is never looked at. */
  get bytes(): Uint8Array {
    return this.#source.subarray(this.#start, this.#end)
  }

  /** Decodes again at each call; nothing is cached, so a held list stays as small as its bytes. */
  read(): T {
    return this.#decode(this.bytes)
  }
}

/** A value of trusted bytes whose canonical form is found when somebody asks for it, and then kept. */
export class LaterRaw<T> extends Raw<T> {
  readonly #settle: (bytes: Uint8Array) => Raw<T>
  #settled: Raw<T> | undefined

  /** @param settle finds the value in the bytes from `start` to `end` of the source */
  constructor(source: Uint8Array, settle: (bytes: Uint8Array) => Raw<T>, start?: number, end?: number) {
    super(source, (bytes) => settle(bytes).read(), start, end)
    this.#settle = settle
  }

  /** The bytes as they stand in the source. */
  get spelled(): Uint8Array {
    return super.bytes
  }

  override get bytes(): Uint8Array {
    this.#settled ??= this.#settle(super.bytes)
    return this.#settled.bytes
  }

  override read(): T {
    this.#settled ??= this.#settle(super.bytes)
    return this.#settled.read()
  }
}
