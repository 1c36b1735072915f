import { useMemo } from 'preact/hooks'
import type { Client } from '#client'
import type { RecordItem, SummaryPoint } from '#schema'
import { MARKED_KINDS, type Marker, markersOf, statusMarkers } from '../data/markers.ts'
import { useLoad } from './use-load.ts'

/** Records carry whole texts, so they are read for markers only where so few lie in sight. */
const MAX_RECORDS = 700
const MAX_PAGES = 4

interface Markers {
  readonly markers: readonly Marker[]
  /** Too many records lie in sight to read them; the summaries alone have been looked at. */
  readonly isFar: boolean
}

/** What happened in the span of these points. */
export function useMarkers(run: string, points: readonly SummaryPoint[], frames: number): Markers {
  const [first, last] = [points[0], points.at(-1)]
  const from = first?.point === 0 ? 0 : (first?.seq ?? 0)
  const to = Math.min(frames, (last?.seq ?? 0) + 1)
  const isNear = first !== undefined && to - from <= MAX_RECORDS
  const { value } = useLoad(isNear ? `${from} ${to}` : undefined, async (client) => ({
    from,
    to,
    items: await recordsOf(client, run, from, to),
  }))
  return useMemo(() => {
    if (isNear && value && value.from <= from && to <= value.to)
      return { markers: markersOf(value.items, points), isFar: false }
    return { markers: statusMarkers(points), isFar: first !== undefined && !isNear }
  }, [value, points, first, isNear, from, to])
}

async function recordsOf(client: Client, run: string, from: number, to: number): Promise<RecordItem[]> {
  const items: RecordItem[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await client.records(run, { from, to, kind: MARKED_KINDS, limit: 1000, cursor })
    items.push(...answer.items)
    if (answer.next_cursor === null) break
    cursor = answer.next_cursor
  }
  return items
}
