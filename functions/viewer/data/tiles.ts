/** Points of one request; the largest page the server gives (API.md, points). */
export const TILE_POINTS = 200

/** About as many samples as a chart has room for; more would be drawn on the same pixels. */
const SAMPLES = 512
/** Far out each sample costs the server a leap to a snapshot and the fold of a stretch, so they are fewer. */
const FAR_SAMPLES = 256
const FAR_POINTS = 8 * SAMPLES

/** A range of points, both ends included. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Every 2^level-th point of a stretch of 200 · 2^level points, aligned, so that zooming and scrolling ask for the same ones again. */
export interface Tile extends Span {
  readonly level: number
  readonly step: number
}

/** How coarse the samples of a span may be. */
export function levelOf({ from, to }: Span): number {
  const points = to - from + 1
  return Math.max(0, Math.ceil(Math.log2(points / (points > FAR_POINTS ? FAR_SAMPLES : SAMPLES))))
}

/** The tiles of a level that cover a span; four at most on the level that suits it. */
export function tilesOf({ from, to }: Span, level = levelOf({ from, to })): Tile[] {
  const step = 2 ** level
  const width = step * TILE_POINTS
  const tiles: Tile[] = []
  for (let start = Math.floor(from / width) * width; start <= to; start += width)
    tiles.push({ level, step, from: start, to: start + width - 1 })
  return tiles
}

/** The nearest one can look. */
export const MIN_WIDTH = 8

/** A span of the same run about a point, `factor` times as wide, within 0..last. */
export function zoomed({ from, to }: Span, about: number, factor: number, last: number): Span {
  const width = Math.min(last, Math.max(MIN_WIDTH, Math.round((to - from) * factor)))
  const left = Math.round(about - ((about - from) / Math.max(1, to - from)) * width)
  const start = Math.min(Math.max(0, left), Math.max(0, last - width))
  return { from: start, to: start + width }
}
