// Strings are most of an archive, so their letters are looked at four at a time. In a word of four letters
//
//   y = x ^ 0x22222222                     has a zero byte where x has a quote
//   (y - 0x01010101) & ~y & 0x80808080     has the high bit set in every zero byte of y
//
// and perhaps in a byte above a zero one, so only the lowest of these bits is sure.

const QUOTES = 0x22222222
const BACKSLASHES = 0x5c5c5c5c
const BLANKS = 0x20202020
const ONES = 0x01010101
const HIGH_BITS = 0x80808080 | 0

const marksIn = (x: number) => (((x ^ QUOTES) - ONES) | ((x ^ BACKSLASHES) - ONES)) & ~x & HIGH_BITS

/** Bytes from 0x80 on count as well, so the high bits that `& ~x` would take away are wanted here. */
const specialsIn = (x: number) =>
  (((x ^ QUOTES) - ONES) | ((x ^ BACKSLASHES) - ONES) | (x - BLANKS) | x) & HIGH_BITS

/** The number of the lowest byte that has its high bit set. */
const lowest = (found: number) => (31 - Math.clz32(found & -found)) >>> 3

/** The position of the first quote or backslash from `at` on; that of the end when there is none. */
export function nextMark(view: DataView, at: number): number {
  const last = view.byteLength - 4
  for (; at <= last; at += 4) {
    const found = marksIn(view.getInt32(at, true))
    if (found !== 0) return at + lowest(found)
  }
  while (at < view.byteLength && !isMark(view.getUint8(at))) at++
  return at
}

/** The same for everything but plain ASCII letters: quotes, backslashes, control characters and bytes from 0x80 on. */
export function nextSpecial(view: DataView, at: number): number {
  const last = view.byteLength - 4
  for (; at <= last; at += 4) {
    const found = specialsIn(view.getInt32(at, true))
    if (found !== 0) return at + lowest(found)
  }
  while (at < view.byteLength && isPlain(view.getUint8(at))) at++
  return at
}

const isMark = (byte: number) => byte === 0x22 || byte === 0x5c
const isPlain = (byte: number) => byte >= 0x20 && byte < 0x80 && !isMark(byte)
