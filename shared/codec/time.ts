import type { Int } from '../schema/index.ts'

// A record's time, found without going over the record: of readable payloads in the spelling that writers use.

const NAME = new TextEncoder().encode(',"at":')
const MINUS = 0x2d
/** Longer numbers are left to the reader of records. */
const MOST_DIGITS = 15

/**
 * The time of a record whose body ends in `,"at":…}}`. The two braces at the very end close the body and the record, so before
 * them stands the body's last member; and the quote behind the comma opens a name, or `at` would stand outside of strings.
 */
export function timeAtEnd(bytes: Uint8Array): Int | undefined {
  const end = bytes.length - 2
  if (bytes[end] !== 0x7d || bytes[end + 1] !== 0x7d) return undefined
  let first = end
  while (isDigit(bytes[first - 1])) first--
  if (bytes[first - 1] === MINUS) first--
  return timeBetween(bytes, first, end)
}

/** The time that is the member behind one that ends here. */
export function timeBehind(bytes: Uint8Array, here: number): Int | undefined {
  const first = here + NAME.length
  let end = bytes[first] === MINUS ? first + 1 : first
  while (isDigit(bytes[end])) end++
  return bytes[end] === 0x2c || bytes[end] === 0x7d ? timeBetween(bytes, first, end) : undefined
}

/** The number from `first` to `end`, if the name of the time is before it. */
function timeBetween(bytes: Uint8Array, first: number, end: number): Int | undefined {
  const isNegative = bytes[first] === MINUS
  let at = isNegative ? first + 1 : first
  if (end === at || end - at > MOST_DIGITS) return undefined
  for (let i = 1; i <= NAME.length; i++) if (bytes[first - i] !== NAME[NAME.length - i]) return undefined
  let time = 0
  for (; at < end; at++) time = time * 10 + (bytes[at] as number) - 0x30
  return isNegative ? -time : time
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39
