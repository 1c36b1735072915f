import type { Int } from '#schema'

/** Nothing is known. */
export const NOTHING = '–'

const whole = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

/** Every digit, grouped. */
export const count = (value: Int | null | undefined): string =>
  value === null || value === undefined ? NOTHING : whole.format(value)

/** `12.3K`, for lists; the exact number stands in its title. */
export const compact = (value: Int | null | undefined): string =>
  value === null || value === undefined ? NOTHING : short.format(value)

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let size = value / 1000
  let unit = 0
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  return `${size.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0)} ${units[unit]}`
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A moment for people: in their zone, and as UTC for the rest of the world. */
export interface Moment {
  readonly iso: string
  readonly local: string
  readonly utc: string
}

/** Undefined where the number is no time a calendar knows; records may hold any. */
export function momentOf(at: Int | string): Moment | undefined {
  const date = typeof at === 'string' ? new Date(at) : new Date(Number(at) * 1000)
  if (Number.isNaN(date.getTime())) return undefined
  const iso = date.toISOString()
  return { iso, local: local.format(date), utc: iso.replace('T', ' ').replace(/(\.000)?Z$/, ' UTC') }
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const STEPS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** `3 min. ago` */
export function ago(at: Int | string, now: number): string {
  const ms = typeof at === 'string' ? Date.parse(at) : Number(at) * 1000
  const seconds = (ms - now) / 1000
  if (!Number.isFinite(seconds)) return String(at)
  const step = STEPS.find(([, size]) => Math.abs(seconds) >= size)
  return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : relative.format(0, 'second')
}

/** A status word for people. */
export const spoken = (word: string): string => word.replaceAll('_', ' ')

/** What a problem says of itself, as a sentence among others. */
export const sentence = (detail: string): string => `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Unix seconds on an axis, told apart however close together they are. */
export const tick = (at: number, step: number): string =>
  (step >= 86_400 ? day : step >= 60 ? clock : seconds).format(at * 1000)
