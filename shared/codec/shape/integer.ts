import type { Int } from '../../schema/index.ts'
import { type IntegerRange, readInteger, skipInteger } from '../json/number.ts'
import type { Shape } from './shape.ts'

/** Integers take integer spelling only, within bounds, with every digit (LVR1.md 3.2). */
export function integer(low: bigint, high: bigint): Shape<Int> {
  const range: IntegerRange = { low, high, least: Number(low), most: Number(high) }
  return {
    read: (c) => readInteger(c, range),
    skip: (c) => skipInteger(c, range),
    write(value, out) {
      const exact = typeof value === 'bigint' || Number.isSafeInteger(value)
      if (!exact || value < low || value > high) {
        throw new TypeError(`an integer from ${low} to ${high} is wanted`)
      }
      out.text(String(value === 0 ? 0 : value))
    },
  }
}
