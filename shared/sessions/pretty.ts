import { JsonNumber } from '../schema/index.ts'

// The canonical form of a document (SESSIONS.md 2): two spaces of indent, `"key": value`, `[]` and `{}`, no newline at the
// end, in strings only what must be escaped. Numbers are written as they were spelled.

/** Plain objects are our own shapes, with fields in their order; Maps are objects of a record. */
export type Writable =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonNumber
  | readonly Writable[]
  | WritableObject

type WritableObject = ReadonlyMap<string, Writable> | { readonly [field: string]: Writable | undefined }

/** Longer strings are escaped and encoded a stretch at a time, when their turn comes. */
const STRETCH = 65_536

const encoder = new TextEncoder()

/** Text being written, and the bytes of it that are taken out. */
export class PrettyWriter {
  /** What is written and not yet taken: text as it stands, and long strings that are still to be escaped. */
  #pending: (string | LongString)[] = []
  #text = ''
  #length = 0

  /** Letters that wait, about. */
  get waiting(): number {
    return this.#length
  }

  /** Writes text as it stands. */
  raw(text: string): void {
    this.#text += text
    this.#length += text.length
  }

  /** Writes a value whose first line begins here; its further lines are indented by so many levels. */
  value(value: Writable, level: number): void {
    if (typeof value === 'string') this.#string(value)
    else if (value === null || typeof value !== 'object') this.raw(String(value))
    else if (value instanceof JsonNumber) this.raw(value.text)
    else if (Array.isArray(value)) this.#array(value, level)
    else this.#object(value as WritableObject, level)
  }

  /** Writes the members of an object as `value` does, without its braces. */
  members(value: WritableObject, level: number): void {
    this.#members(membersOf(value), level)
  }

  /** The bytes of all that waits, in pieces of about 64 KiB or less. */
  *take(): Generator<Uint8Array<ArrayBuffer>> {
    const pending = this.#pending
    const last = this.#text
    this.#pending = []
    this.#text = ''
    this.#length = 0
    for (const piece of pending) {
      if (typeof piece !== 'string') yield* piece.bytes()
      else if (piece !== '') yield encoder.encode(piece)
    }
    if (last !== '') yield encoder.encode(last)
  }

  #string(text: string): void {
    if (text.length > STRETCH) {
      this.#pending.push(`${this.#text}"`, new LongString(text))
      this.#text = '"'
      this.#length += text.length
    } else this.raw(JSON.stringify(text))
  }

  #array(items: readonly Writable[], level: number): void {
    const indent = indentOf(level + 1)
    let before = `[${indent}`
    for (const item of items) {
      this.raw(before)
      this.value(item, level + 1)
      before = `,${indent}`
    }
    this.raw(items.length === 0 ? '[]' : `${indentOf(level)}]`)
  }

  #object(value: WritableObject, level: number): void {
    const members = membersOf(value)
    if (members.length > 0) {
      this.raw(`{${indentOf(level + 1)}`)
      this.#members(members, level)
      this.raw(`${indentOf(level)}}`)
    } else this.raw('{}')
  }

  #members(members: readonly (readonly [string, Writable])[], level: number): void {
    let between = ''
    for (const [name, member] of members) {
      this.raw(between)
      this.#string(name)
      this.raw(': ')
      this.value(member, level + 1)
      between ||= `,${indentOf(level + 1)}`
    }
  }
}

/** Those that have a value. */
function membersOf(value: WritableObject): readonly (readonly [string, Writable])[] {
  if (value instanceof Map) return [...value]
  return Object.entries(value).filter((member): member is [string, Writable] => member[1] !== undefined)
}

const INDENTS: string[] = []

function indentOf(level: number): string {
  INDENTS[level] ??= `\n${'  '.repeat(level)}`
  return INDENTS[level]
}

class LongString {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  *bytes(): Generator<Uint8Array<ArrayBuffer>> {
    const text = this.#text
    for (let start = 0; start < text.length; ) {
      let end = Math.min(start + STRETCH, text.length)
      if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end++
      yield encoder.encode(JSON.stringify(text.slice(start, end)).slice(1, -1))
      start = end
    }
  }
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff
