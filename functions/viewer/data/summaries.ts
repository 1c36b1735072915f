import type { SummaryPoint } from '#schema'
import { levelOf, type Span, type Tile, tilesOf } from './tiles.ts'

/** One page of summaries, as `GET …/points` answers. */
export interface SummaryPage {
  readonly items: readonly SummaryPoint[]
  readonly next_cursor: string | null
}

interface SummaryQuery {
  readonly from: number
  readonly step: number
  readonly limit: number
  readonly cursor?: string
}

type AskPage = (query: SummaryQuery, signal: AbortSignal) => Promise<SummaryPage>

/** Tiles held at once; 200 points of a dozen regions are about 200 kB. */
const MAX_TILES = 96
/** A first picture of a long run has this many times fewer samples: it costs as many times fewer reads. */
const COARSER_LEVELS = 2

interface Held {
  readonly items: readonly SummaryPoint[]
  /** How many points the run had when it was asked for; a tile that was not full then may have more now. */
  readonly points: number
}

/**
 * The summaries of one run, fetched where the reader looks and only as fine as can be seen. Nothing is fetched twice but
 * the last tile of a run that grows.
 */
export class Summaries {
  readonly #ask: AskPage
  readonly #tiles = new Map<string, Held>()

  constructor(ask: AskPage) {
    this.#ask = ask
  }

  /** The best that is known of a span of a run of so many points: its own level, or coarser ones where that is missing. */
  known(span: Span): readonly SummaryPoint[] {
    const found = new Map<number, SummaryPoint>()
    for (const [key, { items }] of this.#tiles) {
      if (Number(key.split(':')[0]) < levelOf(span)) continue
      for (const item of items)
        if (span.from <= item.point && item.point <= span.to) found.set(item.point, item)
    }
    return [...found.values()].sort((a, b) => a.point - b.point)
  }

  /** The last summary at or before a point among all that are held, or the first one after it. */
  nearest(point: number): SummaryPoint | undefined {
    let best: SummaryPoint | undefined
    for (const { items } of this.#tiles.values()) {
      const [first] = items
      const last = items.at(-1)
      if (!first || !last || (best && (last.point <= best.point || first.point > point))) continue
      const at = lastUpTo(items, point)
      if (at && (!best || at.point > best.point)) best = at
    }
    return best
  }

  /** Fetches what a span lacks, coarse first where that is much; `onMore` is told of every tile that has come. */
  async fill(span: Span, points: number, signal: AbortSignal, onMore: () => void): Promise<void> {
    const level = levelOf(span)
    const lacking = this.#lacking(tilesOf(span, level), points)
    if (lacking.length === 0) return
    const isBare = this.known(span).length === 0
    if (isBare && level > COARSER_LEVELS) {
      await this.#fetchAll(tilesOf(span, level + COARSER_LEVELS), points, signal, onMore)
    }
    await this.#fetchAll(lacking, points, signal, onMore)
  }

  #lacking(tiles: readonly Tile[], points: number): Tile[] {
    return tiles.filter((tile) => {
      const held = this.#tiles.get(keyOf(tile))
      return !held || (held.points < points && held.points <= tile.to)
    })
  }

  async #fetchAll(tiles: readonly Tile[], points: number, signal: AbortSignal, onMore: () => void) {
    await Promise.all(
      this.#lacking(tiles, points).map(async (tile) => {
        const items = await this.#fetch(tile, signal)
        this.#hold(keyOf(tile), { items, points })
        onMore()
      }),
    )
  }

  async #fetch(tile: Tile, signal: AbortSignal): Promise<readonly SummaryPoint[]> {
    const items: SummaryPoint[] = []
    let cursor: string | undefined
    const wanted = (tile.to - tile.from + 1) / tile.step
    for (;;) {
      const limit = wanted - items.length
      const question = { from: tile.from, step: tile.step, limit, ...(cursor !== undefined && { cursor }) }
      const page = await this.#ask(question, signal)
      items.push(...page.items.filter(({ point }) => point <= tile.to))
      if (page.next_cursor === null || items.length >= wanted || page.items.length === 0) return items
      cursor = page.next_cursor
    }
  }

  #hold(key: string, held: Held): void {
    this.#tiles.delete(key)
    for (const oldest of this.#tiles.keys()) {
      if (this.#tiles.size < MAX_TILES) break
      this.#tiles.delete(oldest)
    }
    this.#tiles.set(key, held)
  }
}

const keyOf = ({ level, from }: Tile) => `${level}:${from}`

function lastUpTo(items: readonly SummaryPoint[], point: number): SummaryPoint | undefined {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle] as SummaryPoint).point <= point) low = middle + 1
    else high = middle
  }
  return items[low - 1]
}
