import { describe, expect, it } from 'vitest'
import type { Card, RecordItem, SummaryPoint, UsageAnswer } from '#schema'
import { binsOf } from '../../../functions/viewer/data/bins.ts'
import { merged } from '../../../functions/viewer/data/listing.ts'
import { markersOf, statusMarkers } from '../../../functions/viewer/data/markers.ts'
import { bandNames, MAX_BANDS, stackOf } from '../../../functions/viewer/data/stack.ts'

const region = (name: string, current_tokens: number) => ({ name, current_tokens })
const summary = (point: number, ...regions: object[]) =>
  ({ point, seq: point * 10, status: 'running', max_tokens: 100, regions }) as unknown as SummaryPoint

describe('the stacked chart', () => {
  it('stands each region on those before it, also where one is missing or named twice', () => {
    const points = [summary(0, region('a', 1), region('b', 2)), summary(1, region('b', 5), region('b', 1))]
    expect(bandNames(points)).toEqual(['a', 'b'])
    const { x, bands, limit } = stackOf(points, ['a', 'b'])
    expect([x, limit]).toEqual([
      [0, 1],
      [100, 100],
    ])
    expect(bands).toEqual([
      { name: 'a', top: [1, 0] },
      { name: 'b', top: [3, 6] },
    ])
  })

  it('has a band for the largest regions, and one for all others, so that the top is the sum', () => {
    const regions = Array.from({ length: 12 }, (_, n) => region(`r${n}`, n))
    const points = [summary(0, ...regions)]
    const names = bandNames(points)
    expect(names.length).toBe(MAX_BANDS - 1)
    const { bands } = stackOf(points, names)
    expect(bands.at(-1)).toEqual({ name: null, top: [66] })
  })
})

describe('markers', () => {
  const item = (seq: number, kind: string, body: object) =>
    ({ seq, kind, record: { [kind]: body } }) as unknown as RecordItem

  it('stand at the newest point before them', () => {
    const records = [
      item(5, 'StatusChanged', { status: 'running' }),
      item(20, 'ContextCheckpoint', {}),
      item(25, 'ToolBatch', { calls: [{ name: 'shell' }] }),
      item(26, 'ToolCallDone', {}),
      { seq: 27, kind: null, record: null } as RecordItem,
    ]
    const points = [summary(0), summary(1), summary(2), summary(3)]
    expect(markersOf(records, points).map(({ kind, point }) => [kind, point])).toEqual([
      ['status', 0],
      ['checkpoint', 2],
      ['tools', 2],
    ])
    expect(markersOf(records, points)[2]?.label).toBe('tools shell, record 25')
  })

  it('from afar are the changes of status', () => {
    const points = [
      summary(0),
      { ...summary(8), status: 'error' as const },
      { ...summary(16), status: 'error' as const },
    ]
    expect(statusMarkers(points)).toEqual([{ kind: 'status', seq: 80, point: 8, label: 'status error' }])
  })
})

describe('bars of usage', () => {
  it('are of one width, the empty ones among them, and lose no token', () => {
    const series = [
      { at: 1000, prompt_tokens: 5, completion_tokens: 1 },
      { at: 1001, prompt_tokens: 5n, completion_tokens: 1 },
      { at: 5000, prompt_tokens: 7, completion_tokens: 2 },
    ] as unknown as UsageAnswer['series']
    const { seconds, at, input, output } = binsOf(series, 1)
    expect(at.length).toBeLessThanOrEqual(120)
    expect(seconds * at.length).toBeGreaterThanOrEqual(4001)
    expect(input.reduce((a, b) => a + b)).toBe(17)
    expect(output.reduce((a, b) => a + b)).toBe(4)
    expect(input[0]).toBe(10)
  })
})

describe('a list that is brought up to date', () => {
  const card = (run_id: string, status = 'running') => ({ run_id, status }) as Card

  it('keeps its rows in their places, and counts what is newer', () => {
    const shown = [card('b'), card('a')]
    const { items, newer } = merged(shown, [card('d'), card('c'), card('a', 'complete')])
    expect(items).toEqual([card('b'), card('a', 'complete')])
    expect(newer).toBe(2)
  })

  it('that was empty counts all', () => {
    expect(merged([], [card('a')])).toEqual({ items: [], newer: 1 })
  })
})
