import type { SummaryPoint } from '#schema'
import { levelOf, type Span, type Tile, tilesOf } from './tiles.ts'

/** One page of summaries, as `GET …/points` answers. */
interface SummaryPage {
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
const COARSER_LEVELS = 3

interface Held {
  readonly level: number
  readonly items: readonly SummaryPoint[]
  /** How many points the run had when it was asked for; a tile that was not full then may have more now. */
  readonly points: number
}

/**
 * The summaries of one run, fetched where the reader looks and only as fine as can be seen. Nothing is fetched twice but
 * the last tile of a run that grows, and what is not looked at any more is aborted.
 */
export class Summaries {
  readonly #ask: AskPage
  readonly #changed: () => void
  readonly #tiles = new Map<string, Held>()
  readonly #flights = new Map<string, AbortController>()
  readonly #failed = new Set<string>()
  #span: Span = { from: 0, to: 0 }
  #points = 0
  error: unknown

  /** @param changed told whenever a tile has come, or failed */
  constructor(ask: AskPage, changed: () => void) {
    this.#ask = ask
    this.#changed = changed
  }

  get isLoading(): boolean {
    return this.#flights.size > 0
  }

  /** What the reader looks at, of a run of so many points now. What failed before is tried again. */
  look(span: Span, points: number): void {
    this.#span = span
    this.#points = points
    this.#failed.clear()
    this.error = undefined
    this.#advance()
  }

  /** Nobody looks any more. */
  leave(): void {
    for (const flight of this.#flights.values()) flight.abort()
    this.#flights.clear()
  }

  /** The best that is known of a span: its own level, or coarser ones where that is missing. */
  known(span: Span): readonly SummaryPoint[] {
    const found = new Map<number, SummaryPoint>()
    for (const { level, items } of this.#tiles.values()) {
      if (level < levelOf(span)) continue
      for (const item of items)
        if (span.from <= item.point && item.point <= span.to) found.set(item.point, item)
    }
    return [...found.values()].sort((a, b) => a.point - b.point)
  }

  /** The last summary at or before a point among all that are held. */
  nearest(point: number): SummaryPoint | undefined {
    let best: SummaryPoint | undefined
    for (const { items } of this.#tiles.values()) {
      const at = lastUpTo(items, point)
      if (at && (!best || at.point > best.point)) best = at
    }
    return best
  }

  /** Starts what is lacking, coarse first where that is much, and ends what is not wanted any more. */
  #advance(): void {
    const level = levelOf(this.#span)
    const fine = tilesOf(this.#span, level)
    const isBare = level > COARSER_LEVELS && this.known(this.#span).length === 0
    const coarse = isBare ? tilesOf(this.#span, level + COARSER_LEVELS) : []
    const wanted = new Set([...fine, ...coarse].map(keyOf))
    for (const [key, flight] of this.#flights) {
      if (wanted.has(key)) continue
      flight.abort()
      this.#flights.delete(key)
    }
    const first = coarse.some((tile) => this.#isLacking(tile)) ? coarse : fine
    for (const tile of first)
      if (this.#isLacking(tile) && !this.#flights.has(keyOf(tile))) void this.#fly(tile)
  }

  #isLacking(tile: Tile): boolean {
    const key = keyOf(tile)
    const held = this.#tiles.get(key)
    return !this.#failed.has(key) && (!held || (held.points < this.#points && held.points <= tile.to))
  }

  async #fly(tile: Tile): Promise<void> {
    const key = keyOf(tile)
    const flight = new AbortController()
    const points = this.#points
    this.#flights.set(key, flight)
    try {
      const items = await this.#fetch(tile, flight.signal)
      if (!flight.signal.aborted) this.#hold(key, { level: tile.level, items, points })
    } catch (error) {
      if (flight.signal.aborted) return
      this.#failed.add(key)
      this.error = error
    }
    if (flight.signal.aborted) return
    this.#flights.delete(key)
    this.#advance()
    this.#changed()
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
