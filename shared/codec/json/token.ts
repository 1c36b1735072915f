const encoder = new TextEncoder()

const WORD_BYTES = 4

/** Bytes that are looked for at a known place, such as `,"name":`. */
export class Token {
  readonly bytes: Uint8Array
  readonly length: number
  readonly #view: DataView

  constructor(text: string) {
    this.bytes = encoder.encode(text)
    this.length = this.bytes.length
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.length)
  }

  /** Whether these bytes stand there; compared four at a time, the last four perhaps twice. */
  isAt(view: DataView, at: number): boolean {
    const { length } = this
    const own = this.#view
    if (at + length > view.byteLength) return false
    if (length < WORD_BYTES) return this.#isShortAt(view, at)
    const last = length - WORD_BYTES
    for (let i = 0; i < last; i += WORD_BYTES) if (view.getInt32(at + i) !== own.getInt32(i)) return false
    return view.getInt32(at + last) === own.getInt32(last)
  }

  #isShortAt(view: DataView, at: number): boolean {
    for (let i = 0; i < this.length; i++) if (view.getUint8(at + i) !== this.bytes[i]) return false
    return true
  }
}
