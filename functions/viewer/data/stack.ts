import type { SummaryPoint } from '#schema'

/** A band of the stacked chart. */
interface Band {
  /** The region; null for all that have no band of their own. */
  readonly name: string | null
  /** The upper edge at each x: the tokens of this region and of those below it. */
  readonly top: number[]
}

/** Columns of numbers for the chart, of equal length. */
export interface Stack {
  /** Point numbers. */
  readonly x: number[]
  /** From the bottom up. */
  readonly bands: readonly Band[]
  /** The window's limit at each x. */
  readonly limit: number[]
}

/** As many bands as there are colours that can be told apart; the smallest regions share the last one. */
export const MAX_BANDS = 8

/** The regions that get a band, the one that appears first at the bottom. Names, in that order. */
export function bandNames(points: readonly SummaryPoint[]): string[] {
  const largest = new Map<string, number>()
  for (const { regions } of points) {
    for (const { name, current_tokens } of regions)
      largest.set(name, Math.max(largest.get(name) ?? 0, Number(current_tokens)))
  }
  const names = [...largest.keys()]
  if (names.length <= MAX_BANDS) return names
  const kept = new Set(
    [...names].sort((a, b) => (largest.get(b) ?? 0) - (largest.get(a) ?? 0)).slice(0, MAX_BANDS - 1),
  )
  return names.filter((name) => kept.has(name))
}

/** Token counts of regions stacked on one another, for the bands of `names` and one more for the rest. */
export function stackOf(points: readonly SummaryPoint[], names: readonly string[]): Stack {
  const places = new Map(names.map((name, place) => [name, place]))
  const hasRest = points.some(({ regions }) => regions.some(({ name }) => !places.has(name)))
  const bands: Band[] = [...names, ...(hasRest ? [null] : [])].map((name) => ({ name, top: [] }))
  for (const { regions } of points) {
    const heights = bands.map(() => 0)
    for (const { name, current_tokens } of regions) {
      const place = places.get(name) ?? names.length // regions may share a name
      heights[place] = (heights[place] ?? 0) + Number(current_tokens)
    }
    let sum = 0
    for (const [place, band] of bands.entries()) {
      sum += heights[place] ?? 0
      band.top.push(sum)
    }
  }
  return {
    x: points.map(({ point }) => point),
    bands,
    limit: points.map(({ max_tokens }) => Number(max_tokens)),
  }
}
