import { Ends } from './ends.ts'
import { JsonGrammar } from './grammar.ts'
import type { Quotes } from './quotes.ts'
import type { Token } from './token.ts'

/** Check only; values are not made. Reading tells `canonical` as it goes. */
export const HOLD = 0
/** Make JavaScript values. */
export const VALUES = 1
/** Make values that write again in the order and spelling they had: objects of free keys are Maps. */
export const REWRITE = 2
export type Mode = typeof HOLD | typeof VALUES | typeof REWRITE

/** LVR1.md 3.1: more arrays and objects inside each other make a record invalid; its own object is the first. */
const MAX_DEPTH = 127

/**
 * The bytes are not what the shape says; the cursor that failed knows where. One object for all, as making an Error costs
 * more than to read a short payload.
 */
export class Mismatch extends Error {}

const mismatch = new Mismatch('not the expected JSON')

/** A place where bytes must be put in to make the canonical form. */
export interface Gap {
  readonly at: number
  readonly bytes: Uint8Array
}

/** A place in JSON bytes and what is known about them so far. Every reader takes one and leaves it behind its value. */
export class Cursor {
  readonly bytes: Uint8Array
  /** The same bytes, to be looked at four at a time. */
  readonly view: DataView
  at = 0
  mode: Mode
  /** False once anything was met that the canonical writer would have written otherwise, or not at all. */
  canonical = true
  /**
   * Whether the bytes were found to be a valid record before. Then the letters of strings that are only carried are not
   * looked at again, but for quotes and escapes; everything else is checked as ever.
   */
  trusted = false
  /**
   * What becomes of the objects of trusted bytes that are only carried: looked at now, looked at when somebody asks for them,
   * or, in lists, only counted.
   */
  carried: 'now' | 'later' | 'counted' = 'now'
  /** Where strings end, if the letters of all of them were checked and are as a writer writes them. */
  quotes: Quotes | undefined
  /** Members that were not there, noted for whoever fills them in; undefined where nobody does. */
  gaps: Gap[] | undefined
  /** Whether fields marked secret keep their value (LVR1.md 6h: only on the client's side). */
  secrets = false
  depth = 0
  /** Where it failed: whether at a word that is none of those expected. */
  atUnknownWord = false
  readonly #maxDepth: number
  /** The schema name at each depth, for the reason of a refusal. */
  readonly #path: string[] = []
  #grammar: JsonGrammar | undefined
  #ends: Ends | undefined

  constructor(bytes: Uint8Array, mode: Mode = VALUES, maxDepth = MAX_DEPTH) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.mode = mode
    this.#maxDepth = maxDepth
  }

  /** The byte here; -1 at the end. */
  peek(): number {
    return this.at < this.bytes.length ? (this.bytes[this.at] as number) : -1
  }

  /** Goes over blanks, which the canonical form does not have, and gives the byte behind them. */
  next(): number {
    let byte = this.peek()
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.canonical = false
      this.at++
      byte = this.peek()
    }
    return byte
  }

  expect(byte: number): void {
    if (this.next() !== byte) this.fail()
    this.at++
  }

  /** Steps over exactly these bytes if they stand here. */
  take(token: Token): boolean {
    if (!token.isAt(this.view, this.at)) return false
    this.at += token.length
    return true
  }

  /** Steps into an array or object. */
  enter(): void {
    this.at++
    if (++this.depth > this.#maxDepth) this.fail()
    this.#path[this.depth] = ''
  }

  /** Steps out of it. */
  leave(): void {
    this.at++
    this.depth--
  }

  /** Names the member that is read next. */
  name(field: string): void {
    this.#path[this.depth] = field
  }

  /** Goes over the array or object here by its brackets alone, which trusted bytes allow; says whether it is closed. */
  leap(): boolean {
    this.#ends ??= new Ends(this.bytes)
    if (!this.#ends.find(this.at)) return false
    this.at = this.#ends.end(this.#ends.count)
    return true
  }

  /**
   * Where the objects of the array here end, and last where itself does; undefined if anything but objects and commas is
   * in it.
   */
  ends(): Ends | undefined {
    this.#ends ??= new Ends(this.bytes)
    return this.#ends.isOfObjects(this.at) ? this.#ends : undefined
  }

  /** Goes over one value of any kind; only its grammar counts. */
  skip(): void {
    this.canonical = false
    this.#grammar ??= new JsonGrammar()
    this.#grammar.reset()
    this.at = this.#grammar.skip(this.bytes, this.at)
    if (!this.#grammar.complete) this.fail()
  }

  /** @throws Mismatch if anything but blanks is left. */
  finish(): void {
    if (this.next() !== -1) this.fail()
  }

  fail(unknownWord = false): never {
    this.atUnknownWord = unknownWord
    throw mismatch
  }

  /** Where it is or failed, in schema names; never any bytes of the payload. */
  get path(): string {
    const names = this.#path.slice(0, this.depth + 1).filter((name) => name)
    return names.join('.')
  }
}

/** Whether the value at the cursor is valid and spelled canonically, as `read` finds in hold mode. */
export function isCanonical(c: Cursor, read: (c: Cursor) => unknown): boolean {
  const { mode, canonical } = c
  c.mode = HOLD
  c.canonical = true
  try {
    read(c)
    return c.canonical
  } catch (error) {
    if (error instanceof Mismatch) return false
    throw error
  } finally {
    c.mode = mode
    c.canonical = canonical
  }
}
