import type { Cursor } from './cursor.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes of a letter written as an escape. */
const LONGEST_LETTER = 6

/** Set in what `scanString` answers. */
const ESCAPED = 1
const WIDE = 2

const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== 0x22 && byte !== 0x5c ? 1 : 0,
)

/** Reads the string here as text. */
export function readString(c: Cursor): string {
  const start = c.at
  const flags = scanString(c)
  return textOf(c.bytes, start, c.at, flags)
}

/**
 * Reads the string here if it can be as short as `most` letters; steps over a longer one and gives undefined, so that no
 * hostile name becomes a text.
 */
export function readShortString(c: Cursor, most: number): string | undefined {
  const start = c.at
  const flags = scanString(c)
  return c.at - start > LONGEST_LETTER * most + 2 ? undefined : textOf(c.bytes, start, c.at, flags)
}

/** Goes over the string here; in a decoded value its escapes and its UTF-8 must be well-formed (LVR1.md 3.1). */
export function scanString(c: Cursor): number {
  const { bytes } = c
  const end = bytes.length
  if (c.peek() !== 0x22) c.fail()
  let at = c.at + 1
  let flags = 0
  while (at < end) {
    at = afterPlain(bytes, at)
    const byte = bytes[at] as number
    if (byte === 0x22) {
      c.at = at + 1
      return flags
    } else if (byte === 0x5c) {
      flags |= ESCAPED
      at = afterEscape(c, at)
    } else {
      flags |= WIDE
      at = afterWide(bytes, at)
      if (at < 0) c.fail()
    }
  }
  return c.fail()
}

/** Goes over letters that need no second look, four at a time: nearly all of an archive is these. */
function afterPlain(bytes: Uint8Array, at: number): number {
  const last = bytes.length - 4
  while (
    at <= last &&
    ((PLAIN[bytes[at] as number] as number) &
      (PLAIN[bytes[at + 1] as number] as number) &
      (PLAIN[bytes[at + 2] as number] as number) &
      (PLAIN[bytes[at + 3] as number] as number)) ===
      1
  ) {
    at += 4
  }
  while (at < bytes.length && PLAIN[bytes[at] as number] === 1) at++
  return at
}

/** The text of the string between two quotes that were scanned. */
function textOf(bytes: Uint8Array, start: number, end: number, flags: number): string {
  if (flags === 0 && end - start <= 26) {
    let text = ''
    for (let i = start + 1; i < end - 1; i++) text += String.fromCharCode(bytes[i] as number)
    return text
  }
  if ((flags & ESCAPED) === 0) return decoder.decode(bytes.subarray(start + 1, end - 1))
  return JSON.parse(decoder.decode(bytes.subarray(start, end)))
}

/** Letters of the short escapes that a writer uses. `\/` is read, not written. */
const SHORT = new Set(Array.from('"\\bfnrt', (letter) => letter.charCodeAt(0)))
/** Control characters that have a short escape. */
const HAS_SHORT = new Set([8, 9, 10, 12, 13])

function afterEscape(c: Cursor, at: number): number {
  const letter = c.bytes[at + 1] ?? -1
  if (SHORT.has(letter)) return at + 2
  if (letter === 0x2f) {
    c.canonical = false
    return at + 2
  }
  if (letter !== 0x75) c.fail()
  const unit = hexUnit(c, at + 2)
  if (unit >= 0x20 || HAS_SHORT.has(unit) || !isLowerCase(c.bytes, at + 2)) c.canonical = false
  if (unit < 0xd800 || unit > 0xdfff) return at + 6
  if (unit > 0xdbff || c.bytes[at + 6] !== 0x5c || c.bytes[at + 7] !== 0x75) c.fail()
  const low = hexUnit(c, at + 8)
  if (low < 0xdc00 || low > 0xdfff) c.fail()
  return at + 12
}

function hexUnit(c: Cursor, at: number): number {
  let unit = 0
  for (let i = at; i < at + 4; i++) {
    const byte = c.bytes[i] ?? -1
    const lower = byte | 0x20
    if (byte >= 0x30 && byte <= 0x39) unit = unit * 16 + byte - 0x30
    else if (lower >= 0x61 && lower <= 0x66) unit = unit * 16 + lower - 0x57
    else c.fail()
  }
  return unit
}

function isLowerCase(bytes: Uint8Array, at: number): boolean {
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i] as number
    if (byte >= 0x41 && byte <= 0x46) return false
  }
  return true
}

/**
 * The position behind one well-formed UTF-8 sequence of two to four bytes; -1 for anything else, also overlong forms,
 * encoded surrogates, values above U+10FFFF and control characters.
 */
function afterWide(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number
  const second = bytes[at + 1] ?? 0
  if (lead < 0xc2 || lead > 0xf4 || (second & 0xc0) !== 0x80) return -1
  if (lead < 0xe0) return at + 2
  if (((bytes[at + 2] ?? 0) & 0xc0) !== 0x80) return -1
  if (lead < 0xf0) {
    if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return -1
    return at + 3
  }
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return -1
  return ((bytes[at + 3] ?? 0) & 0xc0) === 0x80 ? at + 4 : -1
}
