import { type Json, JsonNumber, type JsonObject } from '../schema/index.ts'
import { parseJson } from './json/parse.ts'

/**
 * Whether two canonical texts say the same: every digit of integers, other numbers as doubles, `0.0` is not `-0.0`, an integer never equal
 * to a double, the order of an object's keys of no account.
 */
export function canonicalEqual(a: Uint8Array, b: Uint8Array): boolean {
  return sameBytes(a, b) || jsonEqual(parseJson(a), parseJson(b))
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function jsonEqual(a: Json, b: Json): boolean {
  if (a instanceof JsonNumber) return b instanceof JsonNumber && Object.is(Number(a), Number(b))
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => jsonEqual(item, b[i]))
  }
  if (Array.isArray(b) || b instanceof JsonNumber) return false
  const [left, right] = [a as JsonObject, b as JsonObject]
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => key in right && jsonEqual(left[key] as Json, right[key] as Json))
  )
}
