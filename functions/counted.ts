/**
 * A number and what is counted, for people: `1 run`, `2 runs`.
 *
 * @param one the word for one of them
 * @param many @default `one` with an s
 */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`
