import { JsonNumber } from '../schema/index.ts'
import type { Value } from './exact-json.ts'

// Times as documents have them: RFC 3339 in UTC with three digits of fraction (SESSIONS.md 2). Two of them compare as texts.

const FORM = '2026-11-02T09:00:00.120Z'
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const INTEGER = /^-?\d{1,16}$/

/** 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z in Unix ms; no other years have four digits. */
const FIRST_MS = -62_167_219_200_000
const LAST_MS = 253_402_300_799_999

/** The time a field tells, a text or an integer of Unix milliseconds; undefined when it tells none. */
export function timeOf(value: Value | undefined): string | undefined {
  return asWritten(value) ?? written(msOf(value))
}

/** Most times have the form already: what comes out of a Date as it went in. */
function asWritten(value: Value | undefined): string | undefined {
  if (typeof value !== 'string' || value.length !== FORM.length) return undefined
  const time = written(Date.parse(value))
  return time === value ? time : undefined
}

function written(at: number | undefined): string | undefined {
  return at === undefined || Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

/** The same in Unix milliseconds. */
export function msOf(value: Value | undefined): number | undefined {
  const at = value instanceof JsonNumber ? fromNumber(value.text) : fromText(value)
  return at !== undefined && at >= FIRST_MS && at <= LAST_MS ? at : undefined
}

function fromNumber(text: string): number | undefined {
  return INTEGER.test(text) ? Number(text) : undefined
}

function fromText(value: Value | undefined): number | undefined {
  const found = typeof value === 'string' ? RFC3339.exec(value) : null
  if (!found) return undefined
  const [, year, month, day, hour, minute, second] = found.map(Number) as number[] as Numbers
  const ms = Number((found[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  if (!isDate || hour > 23 || minute > 59 || second > 59) return undefined
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + ms - offsetOf(found)
}

type Numbers = [number, number, number, number, number, number, number]

/** What the clock that was read is ahead of UTC, ms. */
function offsetOf([, , , , , , , , sign, hours, minutes]: RegExpExecArray): number {
  if (sign === undefined) return 0
  if (Number(hours) > 23 || Number(minutes) > 59) return Number.NaN
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? -ms : ms
}
