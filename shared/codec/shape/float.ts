import { JsonNumber } from '../../schema/index.ts'
import { HOLD } from '../json/cursor.ts'
import { readNumber, scanFinite } from '../json/number.ts'
import { skipJson } from '../json/parse.ts'
import type { Shape } from './shape.ts'

const NUMBER_STARTS = new Set(Array.from('-0123456789', (letter) => letter.charCodeAt(0)))

/** `temperature`: any number finite as a double; views keep its spelling (LVR1.md 3.2). */
export const float: Shape<number | JsonNumber> = {
  read(c) {
    if (c.mode === HOLD) return void scanFinite(c)
    const number = readNumber(c)
    return number instanceof JsonNumber ? number : new JsonNumber(String(number))
  },
  skip: (c) => NUMBER_STARTS.has(c.peek()) && skipJson(c),
  write(value, out) {
    const kept = value instanceof JsonNumber ? value.text : JSON.stringify(value)
    if (!Number.isFinite(Number(value))) throw new TypeError('a finite number is wanted')
    out.text(out.archive ? floatText(Number(value), kept) : kept)
  },
}

/** Decimal exponents that the reference prints without one. */
const LEAST_PLAIN = -6
const MOST_PLAIN = 12

/**
 * The shortest text that gives the same 32-bit float, always with a point or an exponent. A number that would become
 * infinite keeps its own spelling: the reference prints null there, which nobody can read afterwards.
 */
function floatText(value: number, kept: string): string {
  const narrow = Math.fround(value)
  if (!Number.isFinite(narrow)) return kept
  if (narrow === 0) return Object.is(narrow, -0) ? '-0.0' : '0.0'
  let precision = 1
  while (Math.fround(Number(narrow.toPrecision(precision))) !== narrow) precision++
  const [mantissa = '', exponent = ''] = narrow.toExponential(precision - 1).split('e')
  const power = Number(exponent)
  if (power < LEAST_PLAIN || power > MOST_PLAIN) return `${mantissa}e${exponent}`
  const decimals = Math.max(1, precision - 1 - power)
  return decimals === 1 && power >= precision - 1
    ? `${BigInt(Number(narrow.toPrecision(precision)))}.0`
    : narrow.toFixed(decimals)
}
