// Is it JSON? Decided on bytes alone, in chunks of any size and in memory that does not grow with the text (one bit per
// open bracket). What the grammar does not say is not looked at: bytes ≥ 0x80 in strings, halves of \u surrogates, the
// size of numbers, the depth of nesting (LVR1.md 6, "Is JSON").

const VALUE = 0
const VALUE_OR_CLOSE = 1
const NAME_OR_CLOSE = 2
const NAME = 3
const COLON = 4
const COMMA_OR_CLOSE = 5
const DONE = 6
const STRING = 7
const ESCAPE = 8
const HEX = 9
const WORD = 10
// Numbers: the states before ZERO need another digit, those from it on may end where they are.
const MINUS = 11
const POINT = 12
const EXPONENT = 13
const EXPONENT_SIGN = 14
const ZERO = 15
const INTEGER = 16
const FRACTION = 17
const EXPONENT_DIGITS = 18
const FAILED = 19

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39
const isBlank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isHex = (byte: number) =>
  isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46)
const letters = (word: string) => Uint8Array.from(word, (letter) => letter.charCodeAt(0))
const NO_WORD = letters('')
const NO_BRACKETS = new Uint32Array(0)
const WORDS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), letters(word)]))

/** What may follow a backslash, but for `u`. */
const ESCAPES = new Set(letters('"\\/bfnrt'))

/** Judges one text as it comes. */
export class JsonGrammar {
  #state = VALUE
  /** Open brackets, innermost last; a set bit is an object. */
  #stack = NO_BRACKETS
  #depth = 0
  #inName = false
  #hexLeft = 0
  #word = NO_WORD
  #letter = 0

  /** Forgets everything, to begin another text. */
  reset(): void {
    this.#state = VALUE
    this.#depth = 0
    this.#inName = false
  }

  get failed(): boolean {
    return this.#state === FAILED
  }

  /** Whether the text may end here. */
  get complete(): boolean {
    return this.#state === DONE || (this.#depth === 0 && this.#numberMayEnd())
  }

  /** Takes a piece of one JSON text, blanks around it allowed. */
  push(chunk: Uint8Array): void {
    let at = this.skip(chunk, 0)
    if (this.#state !== DONE) return
    while (at < chunk.length && isBlank(chunk[at] as number)) at++
    if (at < chunk.length) this.#state = FAILED
  }

  /** Goes over one value from `at` on and returns the position behind it, or where the bytes ended or it failed. */
  skip(bytes: Uint8Array, at: number): number {
    while (at < bytes.length && this.#state !== DONE && this.#state !== FAILED) {
      if (this.#state === STRING) at = this.#string(bytes, at)
      else if (this.#state < STRING) {
        if (!isBlank(bytes[at] as number)) this.#structure(bytes[at] as number)
        at++
      } else if (this.#inToken(bytes[at] as number)) at++
    }
    return at
  }

  #string(bytes: Uint8Array, at: number): number {
    while (at < bytes.length) {
      const byte = bytes[at] as number
      if (byte < 0x20) {
        this.#state = FAILED
        return at
      }
      at++
      if (byte === 0x5c) {
        this.#state = ESCAPE
        return at
      }
      if (byte === 0x22) {
        if (this.#inName) this.#state = COLON
        else this.#valueEnds()
        this.#inName = false
        return at
      }
    }
    return at
  }

  #structure(byte: number): void {
    const state = this.#state
    if (byte === 0x22 && state !== COLON && state !== COMMA_OR_CLOSE) {
      this.#inName = state === NAME || state === NAME_OR_CLOSE
      this.#state = STRING
    } else if (state === COLON) this.#state = byte === 0x3a ? VALUE : FAILED
    else if (byte === 0x2c && state === COMMA_OR_CLOSE) this.#state = this.#inObject() ? NAME : VALUE
    else if (byte === 0x7d && (state === NAME_OR_CLOSE || (state === COMMA_OR_CLOSE && this.#inObject()))) {
      this.#close()
    } else if (
      byte === 0x5d &&
      (state === VALUE_OR_CLOSE || (state === COMMA_OR_CLOSE && !this.#inObject()))
    ) {
      this.#close()
    } else if (state === VALUE || state === VALUE_OR_CLOSE) this.#value(byte)
    else this.#state = FAILED
  }

  #value(byte: number): void {
    const word = WORDS.get(byte)
    if (word !== undefined) {
      this.#word = word
      this.#letter = 1
      this.#state = WORD
    } else if (byte === 0x7b || byte === 0x5b) this.#open(byte === 0x7b)
    else if (byte === 0x2d) this.#state = MINUS
    else if (byte === 0x30) this.#state = ZERO
    else this.#state = isDigit(byte) ? INTEGER : FAILED
  }

  /** Whether the byte belonged to the token; a number ends at the first byte that does not. */
  #inToken(byte: number): boolean {
    const state = this.#state
    if (state === ESCAPE) {
      this.#hexLeft = 4
      this.#state = byte === 0x75 ? HEX : ESCAPES.has(byte) ? STRING : FAILED
    } else if (state === HEX) {
      if (!isHex(byte)) this.#state = FAILED
      else if (--this.#hexLeft === 0) this.#state = STRING
    } else if (state === WORD) {
      if (byte !== this.#word[this.#letter++]) this.#state = FAILED
      else if (this.#letter === this.#word.length) this.#valueEnds()
    } else if (isDigit(byte) && state !== ZERO) this.#digit(byte)
    else if (byte === 0x2e && (state === ZERO || state === INTEGER)) this.#state = POINT
    else if ((byte | 0x20) === 0x65 && this.#numberMayEnd() && state !== EXPONENT_DIGITS) {
      this.#state = EXPONENT
    } else if ((byte === 0x2b || byte === 0x2d) && state === EXPONENT) this.#state = EXPONENT_SIGN
    else if (this.#numberMayEnd()) {
      this.#valueEnds()
      return false
    } else this.#state = FAILED
    return true
  }

  #digit(byte: number): void {
    if (this.#state === MINUS) this.#state = byte === 0x30 ? ZERO : INTEGER
    else if (this.#state === POINT) this.#state = FRACTION
    else if (this.#state === EXPONENT || this.#state === EXPONENT_SIGN) this.#state = EXPONENT_DIGITS
  }

  #numberMayEnd(): boolean {
    return this.#state >= ZERO && this.#state <= EXPONENT_DIGITS
  }

  #valueEnds(): void {
    this.#state = this.#depth === 0 ? DONE : COMMA_OR_CLOSE
  }

  #inObject(): boolean {
    const top = this.#depth - 1
    return (((this.#stack[top >>> 5] as number) >>> (top & 31)) & 1) === 1
  }

  #open(object: boolean): void {
    const word = this.#depth >>> 5
    if (word === this.#stack.length) {
      const larger = new Uint32Array(Math.max(4, 2 * this.#stack.length))
      larger.set(this.#stack)
      this.#stack = larger
    }
    const bit = 1 << (this.#depth & 31)
    this.#stack[word] = object ? (this.#stack[word] as number) | bit : (this.#stack[word] as number) & ~bit
    this.#depth++
    this.#state = object ? NAME_OR_CLOSE : VALUE_OR_CLOSE
  }

  #close(): void {
    this.#depth--
    this.#valueEnds()
  }
}

/** Whether the bytes are one JSON text by grammar, blanks around it allowed, and nothing else. */
export function isJson(bytes: Uint8Array): boolean {
  const grammar = new JsonGrammar()
  grammar.push(bytes)
  return grammar.complete
}
