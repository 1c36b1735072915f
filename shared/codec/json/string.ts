import type { Cursor } from './cursor.ts'
import { nextMark, nextSpecial } from './letters.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes of a letter written as an escape. */
const LONGEST_LETTER = 6

/** Set in what `scanString` answers. */
const ESCAPED = 1
const WIDE = 2

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
  const flags = passString(c)
  return flags < 0 ? c.fail() : flags
}

/**
 * Goes over the string here if it is spelled canonically, and says whether it was. In trusted bytes only its quotes and
 * escapes are looked at.
 */
export function skipString(c: Cursor): boolean {
  if (c.quotes !== undefined) {
    const behind = c.quotes.behind(c.at)
    if (behind >= 0) c.at = behind
    return behind >= 0
  }
  const { canonical } = c
  c.canonical = true
  const found = (c.trusted ? passTrusted(c) : passString(c)) >= 0 && c.canonical
  c.canonical = canonical
  return found
}

/** What was met, or -1 for anything but a well-formed string. */
function passString(c: Cursor): number {
  const { bytes, view } = c
  const end = bytes.length
  if (c.peek() !== 0x22) return -1
  let flags = 0
  for (let at = nextSpecial(view, c.at + 1); at < end; at = nextSpecial(view, at)) {
    const byte = bytes[at] as number
    if (byte === 0x22) {
      c.at = at + 1
      return flags
    }
    if (byte < 0x20) return -1
    if (byte === 0x5c) {
      flags |= ESCAPED
      at = afterEscape(c, at)
    } else if (byte >= 0x80) {
      flags |= WIDE
      at = afterWide(bytes, at)
    } else at++
    if (at < 0) return -1
  }
  return -1
}

/** The same of a string that is surely well-formed; the letters between its marks are not looked at. */
function passTrusted(c: Cursor): number {
  const { bytes, view } = c
  if (bytes[c.at] !== 0x22) return -1
  for (let at = nextMark(view, c.at + 1); at < bytes.length; at = nextMark(view, at)) {
    if (bytes[at] === 0x22) {
      c.at = at + 1
      return 0
    }
    at = SHORT[bytes[at + 1] ?? 0] === 1 ? at + 2 : afterEscape(c, at)
    if (at < 0) return -1
  }
  return -1
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
const SHORT = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
)
/** Control characters that have a short escape. */
const HAS_SHORT = new Set([8, 9, 10, 12, 13])

/** The position behind the escape here, -1 when it is none; notes one that a writer would spell otherwise. */
function afterEscape(c: Cursor, at: number): number {
  const letter = c.bytes[at + 1] ?? -1
  if (SHORT[letter] === 1) return at + 2
  if (letter === 0x2f) {
    c.canonical = false
    return at + 2
  }
  if (letter !== 0x75) return -1
  const unit = hexUnit(c.bytes, at + 2)
  if (unit < 0) return -1
  if (unit >= 0x20 || HAS_SHORT.has(unit) || !isLowerCase(c.bytes, at + 2)) c.canonical = false
  if (unit < 0xd800 || unit > 0xdfff) return at + 6
  if (unit > 0xdbff || c.bytes[at + 6] !== 0x5c || c.bytes[at + 7] !== 0x75) return -1
  const low = hexUnit(c.bytes, at + 8)
  return low < 0xdc00 || low > 0xdfff ? -1 : at + 12
}

function hexUnit(bytes: Uint8Array, at: number): number {
  let unit = 0
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i] ?? -1
    const lower = byte | 0x20
    if (byte >= 0x30 && byte <= 0x39) unit = unit * 16 + byte - 0x30
    else if (lower >= 0x61 && lower <= 0x66) unit = unit * 16 + lower - 0x57
    else return -1
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
