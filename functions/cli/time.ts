import type { Int } from '#schema'

/** A record's Unix second for people, in UTC to the second; the number itself where no calendar reaches. */
export const unixTime = (second: Int | null | undefined): string | null => {
  if (second === null || second === undefined) return null
  const date = new Date(Number(second) * 1000)
  return Number.isNaN(date.getTime()) ? String(second) : date.toISOString().replace('.000Z', 'Z')
}

/** An RFC 3339 time in UTC without what is less than a second, as tables show it. */
export const wholeSeconds = (time: string): string => time.replace(/\.\d+Z$/, 'Z')
