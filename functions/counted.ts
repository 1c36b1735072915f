import type { Int } from '#schema'

/**
 * A number, with every digit, and what is counted, for people: `1 run`, `2 runs`.
 *
 * @param one the word for one of them
 * @param many @default `one` with an s
 */
export const counted = (n: Int, one: string, many = `${one}s`): string =>
  `${n} ${String(n) === '1' ? one : many}`
