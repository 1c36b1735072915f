import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText, readArchive, readRecord } from '#codec'
import { applyDelta, EMPTY_WINDOW, type Point, points, pointView, windowView } from '#fold'
import type { JournalRecord, PointsQuery } from '#schema'
import { diffAnswer, pointAnswer, pointsPage, pointsStream } from '#store'
import { demoRecords } from '../../../../functions/cli/demo-run.ts'
import { selectPoints } from '../../../../shared/store/reading/select-points.ts'
import { BLOCK_POINTS } from '../../../../shared/store/reading/visit-points.ts'
import { all, archiveOf, seen, storedRun } from './kit.ts'

const bytes = archiveOf(demoRecords({ seed: 51, records: 260, entryBytes: 800 }))
const run = await storedRun(bytes, 9)
const every: Point[] = [...points(readArchive(bytes))]
const last = every.length - 1

const question = (part: Partial<PointsQuery> = {}): PointsQuery => ({
  order: 'asc',
  shape: 'summary',
  limit: 50,
  ...part,
})
const shaped = (list: readonly number[], shape: PointsQuery['shape'] = 'summary') =>
  seen(list.map((n) => pointView(every[n] as Point, shape, every[n - 1]?.context ?? EMPTY_WINDOW)))
const stream = async (part: Partial<PointsQuery> = {}) =>
  seen(await all(pointsStream(run.view, question(part))))

async function walk(part: Partial<PointsQuery>) {
  const items: unknown[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await pointsPage(run.view, question({ ...part, ...(cursor ? { cursor } : {}) }))
    items.push(...page.items)
    if (page.next_cursor === null) return seen(items)
    expect(page.items.length).toBeGreaterThan(0)
    cursor = page.next_cursor
  }
}

/** The same run from chunks whose memory holds something else as soon as the next one is asked for. */
const lending = {
  ...run.view,
  async *bytes(start: number, end: number) {
    for await (const bytes of run.view.bytes(start, end)) {
      const room = new Uint8Array(bytes.length + 1) // a part of its buffer, or reading would give it back
      room.set(bytes)
      yield room.subarray(0, bytes.length)
      room.fill(0x22)
    }
  },
}

const numbers = Array.from({ length: last + 1 }, (_, n) => n)

describe('points', () => {
  it('are the same by pages of any size and as a stream, in both orders and every shape', async () => {
    const walks = fc.record({
      shape: fc.constantFrom('summary', 'full', 'delta'),
      order: fc.constantFrom('asc', 'desc'),
      limit: fc.integer({ min: 1, max: 200 }),
      from: fc.option(fc.nat(last + 5), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(walks, async ({ from, ...rest }) => {
        const part = { ...rest, from } as Partial<PointsQuery>
        const start = from ?? (rest.order === 'asc' ? 0 : last)
        const wanted = rest.order === 'asc' ? numbers.slice(start) : numbers.slice(0, start + 1).reverse()
        expect(await walk(part)).toEqual(shaped(wanted, rest.shape as PointsQuery['shape']))
        expect(await stream(part)).toEqual(shaped(wanted, rest.shape as PointsQuery['shape']))
      }),
      { numRuns: 12 },
    )
  })

  it('come every Nth and the last, counted from where the walk begins', async () => {
    for (const step of [1, 2, 7, last, last + 1, 100_000]) {
      const wanted = numbers.filter((n) => n % step === 0 || n === last)
      expect(await walk({ step, limit: 4 })).toEqual(shaped(wanted))
      expect(await stream({ step })).toEqual(shaped(wanted))
      expect(await stream({ step, order: 'desc' })).toEqual(shaped(wanted.reverse()))
    }
    const from10 = numbers.filter((n) => n >= 10 && ((n - 10) % 5 === 0 || n === last))
    expect(await walk({ step: 5, from: 10, limit: 3 })).toEqual(shaped(from10))
    expect(await stream({ step: 2, from: 5, order: 'desc' })).toEqual(shaped([5, 3, 1]))
  })

  it('lead from window to window by their deltas, exactly', async () => {
    let window = EMPTY_WINDOW
    for (const item of await all(pointsStream(run.view, question({ shape: 'delta' })))) {
      const { delta, point } = item as unknown as { delta: object; point: number }
      const record = readRecord(new TextEncoder().encode(jsonText({ ContextDiff: { delta, at: 0 } })))
      window = record.kind === 'ContextDiff' ? applyDelta(window, record.delta) : window
      expect(jsonText(windowView(window))).toBe(jsonText(windowView((every[point] as Point).context)))
    }
  })

  it('show the whole window beside a delta that cannot say it', async () => {
    const twice = ['1', '2'].map((content) => ({
      name: 'a',
      kind: 'k',
      current_tokens: 0,
      max_tokens: 0,
      description: content,
      entries: [],
    }))
    const [header] = demoRecords({ seed: 1, records: 1 })
    const snapshot = { stage_name: 's', total_tokens: 0, max_tokens: 0, regions: twice }
    const stored = await storedRun(
      archiveOf([header as JournalRecord, { ContextCheckpoint: { snapshot, at: 1 } }]),
    )
    const [item] = seen(await all(pointsStream(stored.view, question({ shape: 'delta' }))))
    expect(item.context.regions).toHaveLength(2)
  })

  it('go on in a walk while the run grows', async () => {
    const half = run.viewFrom({
      ...run.head,
      tail: run.offsets[101] as number,
      frames: 101,
      points: every.filter(({ seq }) => seq < 101).length,
    })
    const first = await pointsPage(half, question({ step: 7, limit: 3 }))
    const rest = await pointsPage(
      run.view,
      question({ step: 7, limit: 200, cursor: first.next_cursor as string }),
    )
    expect([...first.items, ...rest.items].map(({ point }) => point)).toEqual(
      numbers.filter((n) => n % 7 === 0 || n === last),
    )
  })

  it('end a page of huge windows early', async () => {
    const large = archiveOf(demoRecords({ seed: 52, records: 120, entryBytes: 200_000 }))
    const huge = await storedRun(large, 50)
    const page = await pointsPage(huge.view, question({ shape: 'full', limit: 200 }))
    expect(page.items.length).toBeGreaterThan(0)
    expect(page.next_cursor).not.toBeNull()
    expect(jsonText(page.items).length).toBeLessThan(2 * 4 * 1024 * 1024)
  })

  it('refuse a cursor of another question', async () => {
    const { next_cursor } = await pointsPage(run.view, question({ limit: 2 }))
    const cursor = next_cursor as string
    for (const other of [
      { order: 'desc' },
      { shape: 'full' },
      { from: 1 },
      { step: 2 },
    ] as Partial<PointsQuery>[]) {
      await expect(pointsPage(run.view, question({ ...other, cursor }))).rejects.toMatchObject({
        code: 'bad_request',
      })
    }
    const more = await pointsPage(run.view, question({ limit: 3, cursor }))
    expect(more.items.map(({ point }) => point)).toEqual([2, 3, 4])
  })

  it('are none in a run without a Header, or without records', async () => {
    for (const none of [
      archiveOf([]),
      new Uint8Array(0),
      archiveOf([...demoRecords({ seed: 1, records: 9 })].slice(1)),
    ]) {
      const empty = await storedRun(none)
      expect(await pointsPage(empty.view, question())).toEqual({ items: [], next_cursor: null })
      expect(await all(pointsStream(empty.view, question({ order: 'desc' })))).toEqual([])
    }
  })

  it('are found one by one', async () => {
    for (const n of [0, 3, last]) expect(seen(await pointAnswer(run.view, n))).toEqual(shaped([n], 'full')[0])
    for (const n of [last + 1, 1e9])
      await expect(pointAnswer(run.view, n)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('never end short where the head counts more', async () => {
    const wrong = run.viewFrom({ ...run.head, points: every.length + 1 })
    await expect(all(pointsStream(wrong, question()))).rejects.toMatchObject({ code: 'internal' })
  })

  it('come downwards over many blocks, each read again from its mark', async () => {
    const long = archiveOf(demoRecords({ seed: 53, records: 4000, entryBytes: 800 }))
    const stored = await storedRun(long, 400)
    const { points: count } = stored.head
    expect(count).toBeGreaterThan(2 * BLOCK_POINTS)
    let piecesRead = 0
    const view = stored.viewFrom(stored.head)
    const watching = {
      ...view,
      async *bytes(start: number, end: number) {
        for await (const chunk of view.bytes(start, end)) {
          piecesRead += chunk.length
          yield chunk
        }
      },
    }
    const down = await all(pointsStream(watching, question({ order: 'desc' })))
    expect(down.map(({ point }) => point)).toEqual(Array.from({ length: count }, (_, n) => count - 1 - n))
    expect(piecesRead).toBeLessThan(4 * long.length)
  })
})

describe('diff', () => {
  it('leads from any point to any other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(last), fc.nat(last), async (from, to) => {
        const { delta } = await diffAnswer(run.view, { from, to })
        const record = readRecord(new TextEncoder().encode(jsonText({ ContextDiff: { delta, at: 0 } })))
        const window =
          record.kind === 'ContextDiff' && applyDelta((every[from] as Point).context, record.delta)
        expect(window && jsonText(windowView(window))).toBe(
          jsonText(windowView((every[to] as Point).context)),
        )
      }),
      { numRuns: 25 },
    )
  })

  it('is out of range past the end', async () => {
    const past = { code: 'range_not_satisfiable', facts: { tail: bytes.length } }
    await expect(diffAnswer(run.view, { from: 0, to: last + 1 })).rejects.toMatchObject(past)
  })
})

describe('selectPoints', () => {
  it('goes on at any number of its walk as if it had never stopped', () => {
    const walks = fc.record({
      from: fc.option(fc.nat(60), { nil: undefined }),
      order: fc.constantFrom('asc' as const, 'desc' as const),
      step: fc.option(fc.integer({ min: 1, max: 70 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.nat(50), walks, fc.nat(), (total, walk, pick) => {
        const whole = [...selectPoints(total, walk)]
        if (whole.length === 0) return
        const at = pick % whole.length
        expect([...selectPoints(total, walk, whole[at])]).toEqual(whole.slice(at))
        expect(new Set(whole).size).toBe(whole.length)
      }),
    )
  })
})

describe('points of bytes that are lent', () => {
  it.each(['asc', 'desc'] as const)('are the same in every shape, %s', async (order) => {
    for (const shape of ['summary', 'full', 'delta'] as const) {
      const lent = seen(await all(pointsStream(lending, question({ order, shape }))))
      expect(lent).toEqual(await stream({ order, shape }))
    }
  })

  it('are the same where some frames are unreadable, so that every one is checked', async () => {
    const checked = { ...lending, head: { ...lending.head, unreadable: 1 } }
    expect(seen(await all(pointsStream(checked, question())))).toEqual(await stream())
  })
})
