import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RecordItem, SummaryPoint } from '#schema'
import { RecordChunks } from '../../../functions/viewer/data/record-chunks.ts'
import { Summaries } from '../../../functions/viewer/data/summaries.ts'
import { levelOf, type Span, TILE_POINTS, tilesOf, zoomed } from '../../../functions/viewer/data/tiles.ts'

const pointOf = (point: number) => ({ point, seq: point * 3 }) as SummaryPoint
const never = new AbortController().signal

/** A server of a run with so many points, as API.md says of `points`; pages of at most `page` items. */
function server(total: () => number, page = TILE_POINTS) {
  const asked: string[] = []
  const ask = async (query: { from: number; step: number; limit: number; cursor?: string }) => {
    asked.push(`${query.from}+${query.step}`)
    const numbers: number[] = []
    for (let n = query.from; n < total() - 1; n += query.step) numbers.push(n)
    if (query.from < total()) numbers.push(total() - 1)
    const start = Number(query.cursor ?? 0)
    const end = start + Math.min(page, query.limit)
    return {
      items: numbers.slice(start, end).map(pointOf),
      next_cursor: end < numbers.length ? String(end) : null,
    }
  }
  return { asked, ask }
}

describe('tiles', () => {
  const span = fc
    .tuple(fc.nat(1_000_000), fc.nat(1_000_000))
    .map(([from, more]) => ({ from, to: from + more }))

  it('cover their span, are aligned, and are few', async () => {
    await fc.assert(
      fc.property(span, (one) => {
        const tiles = tilesOf(one)
        expect(tiles.length).toBeLessThanOrEqual(4)
        expect(tiles[0]?.from).toBeLessThanOrEqual(one.from)
        expect(tiles.at(-1)?.to).toBeGreaterThanOrEqual(one.to)
        for (const { from, step } of tiles) expect(from % (step * TILE_POINTS)).toBe(0)
      }),
    )
  })

  it('hold every point of what is near', () => {
    expect(levelOf({ from: 100, to: 611 })).toBe(0)
    expect(levelOf({ from: 0, to: 49_999 })).toBe(8)
  })

  it('zoom about a point, and never beyond the run', async () => {
    await fc.assert(
      fc.property(fc.nat(5000), fc.nat(5000), fc.constantFrom(0.5, 2), (last, at, factor) => {
        const about = Math.min(at, last)
        const next = zoomed({ from: 0, to: last }, about, factor, last)
        expect(next.from).toBeGreaterThanOrEqual(0)
        expect(next.to).toBeLessThanOrEqual(last)
        expect(next.from <= about && about <= next.to).toBe(true)
      }),
    )
  })
})

/** Looks at a span until nothing of it is lacking; gives how many points were known after each tile. */
function looking(ask: ConstructorParameters<typeof Summaries>[0]) {
  let told = () => {}
  const summaries = new Summaries(ask, () => told())
  const look = (span: Span, points: number) =>
    new Promise<number[]>((resolve) => {
      const known: number[] = []
      told = () => {
        known.push(summaries.known(span).length)
        if (!summaries.isLoading) resolve(known)
      }
      summaries.look(span, points)
      if (!summaries.isLoading) resolve(known)
    })
  return { summaries, look }
}

describe('summaries', () => {
  it('of a long run come coarse first, then as fine as can be seen, in two requests', async () => {
    const { asked, ask } = server(() => 50_000)
    const { summaries, look } = looking(ask)
    const span = { from: 0, to: 49_999 }
    const [coarse = 0, fine = 0] = await look(span, 50_000)
    expect(asked).toEqual(['0+2048', '0+256'])
    expect(coarse).toBeLessThan(30)
    expect(fine).toBeGreaterThan(190)
    expect(summaries.known(span).at(-1)?.point).toBe(49_999)
  })

  it('are refined where one looks, and never asked for twice', async () => {
    const { asked, ask } = server(() => 50_000)
    const { summaries, look } = looking(ask)
    const near = { from: 20_000, to: 20_300 }
    await look(near, 50_000)
    expect(summaries.known(near).map(({ point }) => point)).toEqual(
      Array.from({ length: 301 }, (_, n) => 20_000 + n),
    )
    const count = asked.length
    await look({ from: 20_010, to: 20_310 }, 50_000)
    expect(asked.length).toBe(count)
  })

  it('of a run that grows ask again for the last tile only', async () => {
    let total = 500
    const { asked, ask } = server(() => total)
    const { summaries, look } = looking(ask)
    await look({ from: 0, to: 499 }, 500)
    asked.length = 0
    total = 510
    await look({ from: 0, to: 509 }, 510)
    expect(asked).toEqual(['400+1'])
    expect(summaries.nearest(1000)?.point).toBe(509)
  })

  it('that are on their way when the run grows are waited for; those of elsewhere are aborted', async () => {
    const aborted: number[] = []
    const { asked, ask } = server(() => 3000)
    const { summaries, look } = looking((query, signal) => {
      signal.addEventListener('abort', () => aborted.push(query.from))
      return ask(query)
    })
    summaries.look({ from: 0, to: 199 }, 3000)
    summaries.look({ from: 0, to: 199 }, 3001)
    expect([asked, aborted]).toEqual([['0+1'], []])
    await look({ from: 1000, to: 1199 }, 3001)
    expect([asked, aborted]).toEqual([['0+1', '1000+1'], [0]])
    expect(summaries.known({ from: 0, to: 199 })).toEqual([])
  })

  it('that cannot be had are told once, and tried again at the next look', async () => {
    let isBroken = true
    const { asked, ask } = server(() => 100)
    const { summaries, look } = looking((query) =>
      isBroken ? Promise.reject(new Error('away')) : ask(query),
    )
    await look({ from: 0, to: 99 }, 100)
    expect(summaries.error).toEqual(new Error('away'))
    isBroken = false
    await look({ from: 0, to: 99 }, 100)
    expect([summaries.error, asked]).toEqual([undefined, ['0+1']])
  })

  it('follow pages that the server has cut short', async () => {
    const { asked, ask } = server(() => 150, 60)
    const { summaries, look } = looking(ask)
    await look({ from: 0, to: 149 }, 150)
    expect(asked.length).toBe(3)
    expect(summaries.known({ from: 0, to: 149 }).length).toBe(150)
  })

  it('know the nearest point that is not after another', async () => {
    const { ask } = server(() => 50_000)
    const { summaries, look } = looking(ask)
    await look({ from: 0, to: 49_999 }, 50_000)
    expect(summaries.nearest(1023)?.point).toBe(768)
    await look({ from: 900, to: 1100 }, 50_000)
    expect(summaries.nearest(1023)?.point).toBe(1023)
  })

  it('stay bounded in memory however far one wanders', async () => {
    const { ask } = server(() => 60_000)
    const { summaries, look } = looking(ask)
    for (let n = 0; n < 120; n++) await look({ from: n * 400, to: n * 400 + 399 }, 60_000)
    expect(summaries.known({ from: 0, to: 399 })).toEqual([])
    expect(summaries.known({ from: 119 * 400, to: 119 * 400 + 399 }).length).toBe(400)
  })
})

describe('records for markers', () => {
  it('are asked for by chunks, and again only where the run may have grown', async () => {
    const asked: number[] = []
    const chunks = new RecordChunks(async (from, to) => {
      asked.push(from)
      return Array.from({ length: to - from }, (_, n) => ({ seq: from + n }) as RecordItem)
    })
    const items = await chunks.read(150, 450, 450, never)
    expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, n) => 150 + n))
    await chunks.read(150, 460, 460, never)
    expect(asked).toEqual([0, 200, 400, 400])
  })
})
