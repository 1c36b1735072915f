import { JsonNumber } from '../schema/index.ts'

// JSON as a record holds it, with nothing lost that the document keeps (SESSIONS.md 2, the exact-digit rule): numbers stay
// the characters they are, names keep their order, and `__proto__` is a name like any other. `codec/json` is stricter: it
// refuses lone surrogates and numbers that no double holds, which the records of a harness may have.

/** What a record holds: objects are Maps, numbers their spelling. */
export type Value = null | boolean | string | JsonNumber | readonly Value[] | ValueMap
export type ValueMap = ReadonlyMap<string, Value>

/** Arrays and objects inside each other; a line that nests deeper is a bad one (SESSIONS.md 4.0). */
const MAX_NESTING = 512

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Reads one JSON text by RFC 8259, or gives undefined when it is none. Of equal names the last value wins, at the place of
 * the first; halves of surrogate pairs become U+FFFD. The text itself must be well-formed, as a decoder leaves it.
 */
export function parseExact(text: string): Value | undefined {
  const reader = new Reader(text)
  try {
    return reader.text()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** One object for all failures: a hostile file has one on every line. */
const malformed = new SyntaxError('not JSON')

class Reader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  text(): Value {
    const value = this.#value(this.#next())
    if (!Number.isNaN(this.#next())) throw malformed
    return value
  }

  /** Goes over blanks and gives the code of the letter behind them, NaN at the end. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code
      this.#at++
    }
  }

  #value(code: number): Value {
    if (code === QUOTE) return this.#string()
    if (code === 0x7b) return this.#object()
    if (code === 0x5b) return this.#array()
    if (code === 0x74) return this.#word('true', true)
    if (code === 0x66) return this.#word('false', false)
    if (code === 0x6e) return this.#word('null', null)
    return this.#number()
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw malformed
    this.#at += word.length
    return value
  }

  #object(): ValueMap {
    const members = new Map<string, Value>()
    this.#enter()
    if (this.#next() === 0x7d) return this.#leave(members)
    for (;;) {
      if (this.#next() !== QUOTE) throw malformed
      const name = this.#string()
      if (this.#next() !== 0x3a) throw malformed
      this.#at++
      members.set(name, this.#value(this.#next()))
      const code = this.#next()
      if (code === 0x7d) return this.#leave(members)
      if (code !== 0x2c) throw malformed
      this.#at++
    }
  }

  #array(): readonly Value[] {
    const items: Value[] = []
    this.#enter()
    if (this.#next() === 0x5d) return this.#leave(items)
    for (;;) {
      items.push(this.#value(this.#next()))
      const code = this.#next()
      if (code === 0x5d) return this.#leave(items)
      if (code !== 0x2c) throw malformed
      this.#at++
    }
  }

  #enter(): void {
    this.#at++
    if (++this.#depth > MAX_NESTING) throw malformed
  }

  #leave<T>(value: T): T {
    this.#at++
    this.#depth--
    return value
  }

  #string(): string {
    const text = this.#text
    const start = this.#at
    let escaped = false
    for (let at = start + 1; ; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        this.#at = at + 1
        return escaped ? JSON.parse(text.slice(start, at + 1)).toWellFormed() : text.slice(start + 1, at)
      }
      if (code === BACKSLASH) {
        escaped = true
        at++
      } else if (!(code >= 0x20)) throw malformed // also NaN, behind the end
    }
  }

  #number(): JsonNumber {
    NUMBER.lastIndex = this.#at
    if (!NUMBER.test(this.#text)) throw malformed
    const number = new JsonNumber(this.#text.slice(this.#at, NUMBER.lastIndex))
    this.#at = NUMBER.lastIndex
    return number
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
