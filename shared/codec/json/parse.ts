import type { Json } from '../../schema/index.ts'
import { Cursor, HOLD, isCanonical, REWRITE, VALUES } from './cursor.ts'
import { Names } from './names.ts'
import { readNumber, scanFinite } from './number.ts'
import { readString, scanString, skipString } from './string.ts'
import { Token } from './token.ts'

/** What a general text may nest: answers wrap records, which nest to 127 themselves. */
const MAX_NESTING = 512

const words: ReadonlyMap<number, { token: Token; value: Json }> = new Map(
  [null, true, false].map((value) => {
    const token = new Token(String(value))
    return [token.bytes[0] as number, { token, value }]
  }),
)

/**
 * Parses strict JSON without losing a digit: integers are numbers or bigints, every other number keeps its spelling.
 * Objects have no prototype, so no name in them is special; of equal names the last wins.
 *
 * @throws SyntaxError for anything that is not well-formed JSON; it never quotes the text.
 */
export function parseJson(text: Uint8Array | string): Json {
  const bytes = typeof text === 'string' ? encodeWellFormed(text) : text
  const c = new Cursor(bytes, VALUES, MAX_NESTING)
  try {
    c.next()
    const value = readJson(c) as Json
    c.finish()
    return value
  } catch (error) {
    throw new SyntaxError(`not JSON at byte ${c.at}`, { cause: error })
  }
}

function encodeWellFormed(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new SyntaxError('not JSON: a lone surrogate')
  return new TextEncoder().encode(text)
}

/** Reads any JSON value at the cursor. In hold mode it is only checked; in rewrite mode objects are Maps. */
export function readJson(c: Cursor): unknown {
  const byte = c.peek()
  if (byte === 0x22) return c.mode === HOLD ? void scanString(c) : readString(c)
  if (byte === 0x7b) return readObject(c)
  if (byte === 0x5b) return readArray(c)
  const word = words.get(byte)
  if (word === undefined) return c.mode === HOLD ? void scanFinite(c) : readNumber(c)
  if (!c.take(word.token)) c.fail()
  return word.value
}

/** Goes over any JSON value if it is spelled canonically, and says whether it was. */
export function skipJson(c: Cursor): boolean {
  return c.peek() === 0x22 ? skipString(c) : isCanonical(c, readJson)
}

function readArray(c: Cursor): unknown {
  const items: unknown[] = []
  c.enter()
  if (c.next() !== 0x5d) {
    for (;;) {
      const item = readJson(c)
      if (c.mode !== HOLD) items.push(item)
      if (c.next() === 0x5d) break
      c.expect(0x2c)
      c.next()
    }
  }
  c.leave()
  return items
}

function readObject(c: Cursor): unknown {
  const members = new Members(c)
  c.enter()
  if (c.next() !== 0x7d) {
    for (;;) {
      members.readName(c)
      c.expect(0x3a)
      c.next()
      members.add(readJson(c))
      if (c.next() === 0x7d) break
      c.expect(0x2c)
      c.next()
    }
  }
  c.leave()
  return members.value()
}

/** The members of an object of free keys, kept as the mode of reading wants them. */
export class Members {
  readonly #map: Map<string, unknown> | undefined
  readonly #plain: Record<string, unknown> | undefined
  readonly #names: Names | undefined
  #name = ''

  constructor(c: Cursor) {
    if (c.mode === REWRITE) this.#map = new Map()
    else if (c.mode === VALUES) this.#plain = Object.create(null)
    else if (c.canonical) this.#names = new Names(c.bytes)
  }

  readName(c: Cursor): void {
    if (c.mode !== HOLD) {
      this.#name = readString(c)
      return
    }
    const start = c.at
    scanString(c)
    if (c.canonical && this.#names?.repeats(start, c.at) === true) c.canonical = false
  }

  add(value: unknown): void {
    if (this.#plain !== undefined) this.#plain[this.#name] = value
    else this.#map?.set(this.#name, value)
  }

  value(): unknown {
    return this.#plain ?? this.#map
  }
}
