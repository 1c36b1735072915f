const encoder = new TextEncoder()

/** A code point takes at most so many bytes in UTF-8. */
const MOST_UNIT_BYTES = 4
const STRETCH = 65_536

/** Bytes being written; the buffer doubles as it fills. */
export class Sink {
  #buffer: Uint8Array
  #length = 0

  constructor(capacity = 256) {
    this.#buffer = new Uint8Array(capacity)
  }

  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  bytes(piece: Uint8Array): void {
    this.#reserve(piece.length)
    this.#buffer.set(piece, this.#length)
    this.#length += piece.length
  }

  /** Writes text as it stands, a stretch at a time: no more than a byte per letter is reserved on a guess. */
  text(text: string): void {
    for (let at = 0; at < text.length; ) {
      this.#reserve(Math.max(MOST_UNIT_BYTES, Math.min(text.length - at, STRETCH)))
      const rest = at === 0 ? text : text.slice(at)
      const { read, written } = encoder.encodeInto(rest, this.#buffer.subarray(this.#length))
      at += read
      this.#length += written
    }
  }

  /** Writes a JSON string: `"`, `\` and what is below 0x20 escaped, nothing else (LVR1.md 3.3). */
  string(text: string): void {
    this.text(JSON.stringify(text))
  }

  /** Everything written since the last call. */
  take(): Uint8Array {
    const taken = this.#buffer.slice(0, this.#length)
    this.#length = 0
    return taken
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#buffer.length) return
    const larger = new Uint8Array(Math.max(needed, 2 * this.#buffer.length))
    larger.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = larger
  }
}
