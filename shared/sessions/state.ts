import { concat, digestOf, jsonBytes } from '../codec/index.ts'
import { JsonNumber } from '../schema/index.ts'
import { parseExact, type Value, type ValueMap } from './exact-json.ts'

// Where a derivation stood at the end of the last whole line, as bytes that another process goes on from:
//
//   runfold-session-state 1 <sha256 of all that follows the LF> LF
//   {"parser": …, "blobs": [bytes of each], "body": {…}} LF
//   blob, blob, …
//
// A state is derived: one that cannot be read, of another parser or another form, is as if there were none.

/** A larger one is not kept: going on would cost as much as beginning anew (SESSIONS.md 1.1). */
export const STATE_BYTES_MAX = 4 * 1024 * 1024

const MAGIC = 'runfold-session-state 1 '
const LF = 0x0a
const FIRST_LINE_BYTES = MAGIC.length + 64 + 1

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Takes in what is better kept as bytes than as JSON. */
export class StateWriter {
  readonly #blobs: Uint8Array[] = []

  /** The number under which the body names these bytes. */
  blob(bytes: Uint8Array): number {
    return this.#blobs.push(bytes) - 1
  }

  /** Undefined when it is over the limit. */
  encode(parser: string, body: unknown): Uint8Array | undefined {
    const head = jsonBytes({ parser, blobs: this.#blobs.map((blob) => blob.length), body })
    const rest = [head, Uint8Array.of(LF), ...this.#blobs]
    const length = rest.reduce((sum, part) => sum + part.length, FIRST_LINE_BYTES)
    if (length > STATE_BYTES_MAX) return undefined
    return concat([encoder.encode(`${MAGIC}${digestOf(...rest)}\n`), ...rest])
  }
}

/** The body of a state; undefined unless it is whole and this parser's. */
export function decodeState(bytes: Uint8Array, parser: string): SavedMap | undefined {
  const first = decoder.decode(bytes.subarray(0, FIRST_LINE_BYTES))
  if (first !== `${MAGIC}${digestOf(bytes.subarray(FIRST_LINE_BYTES))}\n`) return undefined
  const end = bytes.indexOf(LF, FIRST_LINE_BYTES)
  const head = parseExact(decoder.decode(bytes.subarray(FIRST_LINE_BYTES, end)))
  if (!(head instanceof Map) || head.get('parser') !== parser) return undefined
  const blobs: Uint8Array[] = []
  let at = end + 1
  for (const length of head.get('blobs') as JsonNumber[]) {
    blobs.push(bytes.subarray(at, at + Number(length.text)))
    at += Number(length.text)
  }
  return new SavedMap(head.get('body') as ValueMap, blobs)
}

/** An object of a state. Its fields are as they were written: the digest says so. */
export class SavedMap {
  readonly fields: ValueMap
  readonly #blobs: readonly Uint8Array[]

  constructor(fields: ValueMap, blobs: readonly Uint8Array[]) {
    this.fields = fields
    this.#blobs = blobs
  }

  text(name: string): string | undefined {
    return this.fields.get(name) as string | undefined
  }

  int(name: string): number {
    const value = this.fields.get(name)
    return value instanceof JsonNumber ? Number(value.text) : 0
  }

  list(name: string): readonly Value[] {
    return (this.fields.get(name) ?? []) as readonly Value[]
  }

  map(name: string): SavedMap {
    return new SavedMap((this.fields.get(name) ?? new Map()) as ValueMap, this.#blobs)
  }

  blob(name: string): Uint8Array {
    return this.#blobs[this.int(name)] ?? new Uint8Array(0)
  }
}
