import { type Cursor, HOLD } from '../json/cursor.ts'
import { readShortString } from '../json/string.ts'
import { Token } from '../json/token.ts'
import { check, checked } from './checked.ts'
import { write } from './held.ts'
import { type Shape, type ShapeSink, writeValue } from './shape.ts'

/** A field of a structure, and what its absence means. */
export interface Field {
  readonly name: string
  readonly shape: Shape
  /** What a missing key means; undefined when the field is required. */
  readonly fallback: unknown
  readonly omit: 'null' | 'empty' | undefined
  readonly secret: boolean
}

/** Two words of 32 bits tell which fields were seen. */
const MOST_FIELDS = 64
/** Absent fields that are tried in order before the name is looked up. */
const TRIES = 8

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The structure of which only one field is read, though all of it is checked. */
export function only(struct: Struct, name: string): Struct {
  return new Struct(
    struct.fields.map((field) => (field.name === name ? field : { ...field, shape: checked(field.shape) })),
  )
}

/** An object with known fields in wire order; all of LVR1.md 3.1 about structures. */
export class Struct implements Shape<Record<string, unknown>> {
  readonly fields: readonly Field[]
  /** `"name":` of each field. */
  readonly #tokens: readonly Token[]
  /** `{"name":` and `,"name":` of each field. */
  readonly #firsts: readonly Token[]
  readonly #others: readonly Token[]
  /** `"name":default`, of the fields that are always written and may be missing. */
  readonly #defaults: readonly (string | undefined)[]
  readonly #index: ReadonlyMap<string, number>
  readonly #longestName: number

  constructor(fields: readonly Field[]) {
    if (fields.length > MOST_FIELDS) throw new RangeError(`over ${MOST_FIELDS} fields`)
    this.fields = fields
    this.#tokens = fields.map(({ name }) => new Token(`${JSON.stringify(name)}:`))
    this.#firsts = fields.map(({ name }) => new Token(`{${JSON.stringify(name)}:`))
    this.#others = fields.map(({ name }) => new Token(`,${JSON.stringify(name)}:`))
    this.#defaults = fields.map(({ name, shape, fallback, omit }) =>
      fallback === undefined || omit !== undefined
        ? undefined
        : `${JSON.stringify(name)}:${decoder.decode(write(shape, fallback, false))}`,
    )
    this.#index = new Map(fields.map(({ name }, index) => [name, index]))
    this.#longestName = Math.max(...fields.map(({ name }) => name.length))
  }

  read(c: Cursor): Record<string, unknown> | undefined {
    const values: unknown[] = []
    if (c.peek() === 0x5b) this.#readInOrder(c, values)
    else this.#readByName(c, values)
    return c.mode === HOLD ? undefined : this.#build(values)
  }

  #readByName(c: Cursor, values: unknown[]): void {
    if (c.peek() !== 0x7b) c.fail()
    let seenLow = 0
    let seenHigh = 0
    let next = 0
    c.enter()
    let byte = c.next()
    while (byte !== 0x7d) {
      const index = this.#fieldAt(c, next)
      if (index < 0) c.skip()
      else {
        const bit = 1 << (index & 31)
        if (((index < 32 ? seenLow : seenHigh) & bit) !== 0) c.fail()
        if (index < 32) seenLow |= bit
        else seenHigh |= bit
        if (index < next) c.canonical = false
        else next = index + 1
        this.#readField(c, index, values)
        c.name('')
      }
      byte = c.next()
      if (byte === 0x2c) {
        c.at++
        byte = c.next()
        if (byte !== 0x22) c.fail()
      } else if (byte !== 0x7d) c.fail()
    }
    for (let index = 0; index < this.fields.length; index++) {
      const seen = index < 32 ? seenLow : seenHigh
      if ((seen & (1 << (index & 31))) === 0) this.#missing(c, index, values)
    }
    c.leave()
  }

  /** A structure given as an array of its fields in wire order; the end may be missing where defaults exist. */
  #readInOrder(c: Cursor, values: unknown[]): void {
    c.canonical = false
    c.enter()
    let index = 0
    let byte = c.next()
    while (byte !== 0x5d) {
      if (index >= this.fields.length) c.fail()
      this.#readField(c, index++, values)
      c.name('')
      byte = c.next()
      if (byte === 0x2c) {
        c.at++
        byte = c.next()
        if (byte === 0x5d) c.fail()
      } else if (byte !== 0x5d) c.fail()
    }
    for (; index < this.fields.length; index++) this.#missing(c, index, values)
    c.leave()
  }

  /** Steps over a member's name and colon; the field's index, or -1 for one that is not known. */
  #fieldAt(c: Cursor, next: number): number {
    const last = Math.min(next + TRIES, this.#tokens.length)
    for (let index = next; index < last; index++) {
      if (c.take(this.#tokens[index] as Token)) {
        c.next()
        return index
      }
    }
    const name = readShortString(c, this.#longestName)
    c.expect(0x3a)
    c.next()
    return this.#index.get(name ?? '') ?? -1
  }

  #readField(c: Cursor, index: number, values: unknown[]): void {
    const field = this.fields[index] as Field
    const start = c.at
    c.name(field.name)
    const value = field.shape.read(c)
    const isNull = c.at - start === 4 && c.bytes[start] === 0x6e
    if (field.omit === 'null' && isNull) c.canonical = false
    if (field.omit === 'empty' && c.at - start === 2) c.canonical = false
    const hidden = field.secret && !c.secrets
    if (hidden && !isNull) c.canonical = false
    if (c.mode !== HOLD) values[index] = hidden ? null : value
  }

  #missing(c: Cursor, index: number, values: unknown[]): void {
    const field = this.fields[index] as Field
    if (field.fallback === undefined) {
      c.name(field.name)
      c.fail()
    }
    if (field.omit === undefined) c.canonical = false
    if (c.mode !== HOLD) values[index] = field.fallback
  }

  /** With `from` the fields before that one were gone over already. */
  skip(c: Cursor, from = 0): boolean {
    c.depth++
    let tokens = from === 0 ? this.#firsts : this.#others
    for (let index = from; index < this.fields.length; index++) {
      const { shape, omit, secret } = this.fields[index] as Field
      if (!c.take(tokens[index] as Token)) {
        if (omit === undefined && !this.#fill(c, index, tokens === this.#firsts)) return false
        continue
      }
      tokens = this.#others
      const first = c.peek()
      if (secret ? first !== 0x6e : omit === 'null' && first === 0x6e) return false
      const start = c.at
      if (!shape.skip(c) || (omit === 'empty' && c.at === start + 2)) return false
    }
    if (tokens === this.#firsts || c.peek() !== 0x7d) return false
    c.at++
    c.depth--
    return true
  }

  /** Notes a member that is not there, if it may be missing. */
  #fill(c: Cursor, index: number, isFirst: boolean): boolean {
    const member = this.#defaults[index]
    if (member === undefined) return false
    if (isFirst) c.gaps?.push({ at: c.at + 1, bytes: encoder.encode(`${member},`) })
    else c.gaps?.push({ at: c.at, bytes: encoder.encode(`,${member}`) })
    return true
  }

  /**
   * Some members of a value that is spelled canonically; it looks no further than the last of them. Of any other readable
   * value undefined, or these members, where `isCanonical` is not known.
   */
  pick(c: Cursor, names: readonly string[], isCanonical: boolean): Record<string, unknown> | undefined {
    const picked: Record<string, unknown> = {}
    let tokens = this.#firsts
    for (let index = 0, left = names.length; left > 0 && index < this.fields.length; index++) {
      const { name, shape, fallback, secret } = this.fields[index] as Field
      const isWanted = names.includes(name)
      if (isWanted) left--
      if (c.take(tokens[index] as Token)) {
        tokens = this.#others
        c.next()
        if (isWanted && !secret) picked[name] = shape.read(c)
        else check(shape, c)
        if (isWanted && secret) picked[name] = null
      } else if (isWanted && !isCanonical) return undefined
      else if (isWanted) picked[name] = fallback
    }
    return picked
  }

  #build(values: readonly unknown[]): Record<string, unknown> {
    const built: Record<string, unknown> = {}
    for (let index = 0; index < this.fields.length; index++) {
      built[(this.fields[index] as Field).name] = values[index]
    }
    return built
  }

  write(value: Readonly<Record<string, unknown>>, out: ShapeSink): void {
    let separator = 0x7b
    this.fields.forEach((field, index) => {
      const given = value[field.name] === undefined ? field.fallback : value[field.name]
      const member = field.secret && !out.archive ? null : given
      if (member === undefined) throw new TypeError(`${field.name} is missing`)
      if (field.omit === 'null' && member === null) return
      if (field.omit === 'empty' && (member as readonly unknown[]).length === 0) return
      out.byte(separator)
      separator = 0x2c
      out.bytes((this.#tokens[index] as Token).bytes)
      writeValue(field.shape, member, out)
    })
    if (separator === 0x7b) out.byte(separator)
    out.byte(0x7d)
  }
}
