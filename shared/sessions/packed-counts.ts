// Lists of counts by number, such as `4,141,18211,,`, of which a long session has a million: digits take half a byte each, in
// memory that the collector does not walk.

const LETTERS = '0123456789,-'
const CODES: Readonly<Record<string, number>> = Object.fromEntries(
  [...LETTERS].map((letter, i) => [letter, i]),
)
const LIST_LETTERS_MAX = 255
const FIRST_BYTES = 1024
const GROWTH = 1.5

/** Texts of digits, commas and minus signs, at most 255 letters each; their numbers begin at 0 and leave out none. */
export class PackedCounts {
  /** Two letters a byte, the first in the low half. */
  #letters = new Uint8Array(FIRST_BYTES)
  #used = 0
  /** Of each number: where its letters begin, and how many they are. */
  #starts = new Uint32Array(FIRST_BYTES / 4)
  #lengths = new Uint8Array(FIRST_BYTES / 4)
  #count = 0

  /** Memory it takes. */
  get bytes(): number {
    return this.#letters.length + this.#starts.byteLength + this.#lengths.length
  }

  /** Undefined for a number that has none yet. */
  get(number: number): string | undefined {
    if (number >= this.#count) return undefined
    const start = this.#starts[number] as number
    let text = ''
    for (let i = 0; i < (this.#lengths[number] as number); i++) {
      const byte = this.#letters[start + (i >>> 1)] as number
      text += LETTERS[i & 1 ? byte >>> 4 : byte & 0x0f]
    }
    return text
  }

  /** Replaces what the number had, or is the next number's. */
  set(number: number, text: string): void {
    if (number > this.#count || text.length > LIST_LETTERS_MAX)
      throw new RangeError('no next number, or too long a text')
    const had = number < this.#count ? bytesFor(this.#lengths[number] as number) : 0
    if (number === this.#count) this.#count++
    if (this.#count > this.#starts.length) this.#growNumbers()
    const size = bytesFor(text.length)
    // What is replaced by something longer is lost, and seldom: the numbers of one response grow while it is the newest.
    if (had < size) this.#starts[number] = this.#room(number, had, size)
    this.#lengths[number] = text.length
    const start = this.#starts[number] as number
    for (let i = 0; i < text.length; i += 2) {
      const high = i + 1 < text.length ? (CODES[text[i + 1] as string] as number) : 0
      this.#letters[start + (i >>> 1)] = (CODES[text[i] as string] as number) | (high << 4)
    }
  }

  /** Where so many bytes are free, at the end; the newest of all stays where it is. */
  #room(number: number, had: number, size: number): number {
    const start = this.#starts[number] as number
    const isLast = had > 0 && start + had === this.#used
    const at = isLast ? start : this.#used
    this.#used = at + size
    if (this.#used > this.#letters.length) {
      const length = Math.max(this.#used, Math.ceil(GROWTH * this.#letters.length))
      this.#letters = new Uint8Array(this.#letters.buffer.transfer(length))
    }
    return at
  }

  #growNumbers(): void {
    const count = Math.ceil(GROWTH * this.#starts.length)
    this.#starts = new Uint32Array(this.#starts.buffer.transfer(4 * count))
    this.#lengths = new Uint8Array(this.#lengths.buffer.transfer(count))
  }

  /** The texts from a number on, each in a line. */
  linesFrom(number: number): string {
    const lines: string[] = []
    for (let at = number; at < this.#count; at++) lines.push(this.get(at) as string)
    return lines.join('\n')
  }
}

const bytesFor = (letters: number): number => (letters + 1) >>> 1
