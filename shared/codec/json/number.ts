import { type Int, JsonNumber } from '../../schema/index.ts'
import type { Cursor } from './cursor.ts'

/** Digits that a Number adds up without losing one. */
const SAFE_DIGITS = 15
/** 2^64 has 20 digits; no integer field takes more. */
const MOST_DIGITS = 20
/** A spelling no longer than this and without exponent is surely finite. */
const SURELY_FINITE = 300

const decoder = new TextDecoder()

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39

/** Goes over the number here and says whether it is spelled as an integer. */
function scanNumber(c: Cursor): boolean {
  let integer = true
  if (c.peek() === 0x2d) c.at++
  if (c.peek() === 0x30) c.at++
  else digits(c)
  if (c.peek() === 0x2e) {
    integer = false
    c.at++
    digits(c)
  }
  if ((c.peek() | 0x20) === 0x65) {
    integer = false
    c.at++
    if (c.peek() === 0x2b || c.peek() === 0x2d) c.at++
    digits(c)
  }
  return integer
}

function digits(c: Cursor): void {
  if (!isDigit(c.peek())) c.fail()
  do c.at++
  while (isDigit(c.peek()))
}

/** Goes over a number that must be finite as a double; says whether it is spelled as an integer. */
export function scanFinite(c: Cursor): boolean {
  const start = c.at
  const integer = scanNumber(c)
  const short = c.at - start <= SURELY_FINITE
  if (!(short && integer) && !Number.isFinite(Number(spelling(c, start)))) c.fail()
  return integer
}

/** The number here, exact: a safe integer as number, a larger one as bigint, any other spelling as it stands. */
export function readNumber(c: Cursor): Int | JsonNumber {
  const start = c.at
  const integer = scanFinite(c)
  const text = spelling(c, start)
  if (!integer || text === '-0') return new JsonNumber(text)
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

/** Bounds of an integer field, inclusive, exact and as the nearest doubles. */
export interface IntegerRange {
  readonly low: bigint
  readonly high: bigint
  readonly least: number
  readonly most: number
}

/** The integer here, which must be spelled as one and lie in the range. */
export function readInteger(c: Cursor, range: IntegerRange): Int {
  const { bytes } = c
  const start = c.at
  const negative = c.peek() === 0x2d
  const first = negative ? start + 1 : start
  let at = first
  let value = 0
  for (; at < bytes.length && isDigit(bytes[at] as number); at++)
    value = value * 10 + (bytes[at] as number) - 0x30
  const count = at - first
  const leadingZero = bytes[first] === 0x30 && (count > 1 || negative)
  const following = at < bytes.length ? (bytes[at] as number) : -1
  if (count === 0 || count > MOST_DIGITS || leadingZero) c.fail()
  if (following === 0x2e || (following | 0x20) === 0x65) c.fail()
  c.at = at
  if (count <= SAFE_DIGITS) {
    const exact = negative ? -value : value
    if (exact < range.least || exact > range.most) c.fail()
    return exact
  }
  const exact = BigInt(spelling(c, start))
  if (exact < range.low || exact > range.high) c.fail()
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

/** Goes over an integer of few enough digits in this range, and says whether one was there; others ask for `readInteger`. */
export function skipInteger(c: Cursor, range: IntegerRange): boolean {
  const { bytes } = c
  let at = c.at
  const negative = bytes[at] === 0x2d
  if (negative) at++
  const first = at
  let value = 0
  for (; isDigit(bytes[at] ?? 0); at++) value = value * 10 + (bytes[at] as number) - 0x30
  const count = at - first
  const following = bytes[at] ?? 0
  if (count === 0 || count > SAFE_DIGITS || following === 0x2e || (following | 0x20) === 0x65) return false
  if (bytes[first] === 0x30 && (count > 1 || negative)) return false
  c.at = at
  return negative ? -value >= range.least : value <= range.most && value >= range.least
}

function spelling(c: Cursor, start: number): string {
  if (c.at - start > SURELY_FINITE) return decoder.decode(c.bytes.subarray(start, c.at))
  let text = ''
  for (let i = start; i < c.at; i++) text += String.fromCharCode(c.bytes[i] as number)
  return text
}
