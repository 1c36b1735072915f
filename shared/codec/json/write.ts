import { JsonNumber } from '../../schema/index.ts'
import { Raw } from '../raw.ts'
import { Sink } from './sink.ts'

/** The largest piece that `jsonChunks` gives. */
const CHUNK_BYTES = 65_536

/**
 * Writes a value as compact JSON, in chunks of at most 64 KiB, taking from lazy iterables only as much as is written.
 *
 * Beside plain JSON values it takes bigints, JsonNumbers (in their own spelling), Raws (embedded byte for byte), Maps
 * (objects) and any other iterable (arrays). Members that are undefined are left out.
 *
 * @throws TypeError for what JSON cannot say: functions, symbols, numbers that are not finite.
 */
export function* jsonChunks(value: unknown): Generator<Uint8Array, void, undefined> {
  const out = new Sink() // it grows to the chunk's size; a line of NDJSON is a value of its own, and small
  for (const _ of steps(value, out)) {
    if (out.length >= CHUNK_BYTES) yield* slices(out.take())
  }
  if (out.length > 0) yield* slices(out.take())
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

/** The same in one piece. */
export function jsonBytes(value: unknown): Uint8Array {
  const out = new Sink()
  writeJson(value, out)
  return out.take()
}

/** The same as text. */
export function jsonText(value: unknown): string {
  return new TextDecoder().decode(jsonBytes(value))
}

/** The whole value into one sink. */
export function writeJson(value: unknown, out: Sink): void {
  if (writeLeaf(value, out)) return
  for (const _ of steps(value, out));
}

/** Writes the value bit by bit: the caller may empty the sink at each step. */
function* steps(value: unknown, out: Sink): Generator<void, void, undefined> {
  if (value instanceof Raw && value.bytes.length > CHUNK_BYTES) {
    for (const slice of slices(value.bytes)) {
      out.bytes(slice)
      yield
    }
  } else if (!writeLeaf(value, out)) {
    if (value instanceof Map) yield* members(value, out)
    else if (isIterable(value)) yield* items(value, out)
    else yield* members(Object.entries(value as object), out)
  }
}

function* items(list: Iterable<unknown>, out: Sink): Generator<void, void, undefined> {
  let separator = 0x5b
  for (const item of list) {
    out.byte(separator)
    separator = 0x2c
    if (!writeSmall(item === undefined ? null : item, out)) yield* steps(item, out)
    yield
  }
  if (separator === 0x5b) out.byte(separator)
  out.byte(0x5d)
}

function* members(entries: Iterable<[string, unknown]>, out: Sink): Generator<void, void, undefined> {
  let separator = 0x7b
  for (const [name, member] of entries) {
    if (member === undefined) continue
    out.byte(separator)
    separator = 0x2c
    out.string(name)
    out.byte(0x3a)
    if (!writeSmall(member, out)) yield* steps(member, out)
    yield
  }
  if (separator === 0x7b) out.byte(separator)
  out.byte(0x7d)
}

/** The same as `writeLeaf` without what is to be written in several steps. */
function writeSmall(value: unknown, out: Sink): boolean {
  if (!(value instanceof Raw)) return writeLeaf(value, out)
  const { bytes } = value
  if (bytes.length > CHUNK_BYTES) return false
  out.bytes(bytes)
  return true
}

/** Whether the value was one that has no others inside; then it is written. */
function writeLeaf(value: unknown, out: Sink): boolean {
  if (typeof value === 'string') out.string(value)
  else if (value instanceof Raw) out.bytes(value.bytes)
  else if (value instanceof JsonNumber) out.text(value.text)
  else if (typeof value === 'number' && Number.isFinite(value)) out.text(JSON.stringify(value))
  else if (value === null || typeof value === 'boolean' || typeof value === 'bigint') out.text(String(value))
  else if (typeof value !== 'object') throw new TypeError(`JSON has no form for ${typeof value} values`)
  else return false
  return true
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}
