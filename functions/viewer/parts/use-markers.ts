import { useMemo, useState } from 'preact/hooks'
import type { Client } from '#client'
import type { RecordItem, SummaryPoint } from '#schema'
import { MARKED_KINDS, type Marker, markersOf, statusMarkers } from '../data/markers.ts'
import { RecordChunks } from '../data/record-chunks.ts'
import { useSigned } from './context.ts'
import { useLoad } from './use-load.ts'

/** Records carry whole texts, so they are read for markers only where so few lie in sight. */
const MAX_RECORDS = 700
/** Of one chunk; a page ends early where records are large, and markers are not worth more than this. */
const MAX_PAGES = 4

interface Markers {
  readonly markers: readonly Marker[]
  /** Too many records lie in sight to read them; the summaries alone have been looked at. */
  readonly isFar: boolean
}

/** What happened in the span of these points. */
export function useMarkers(run: string, points: readonly SummaryPoint[], frames: number): Markers {
  const { client } = useSigned()
  const [chunks] = useState(
    () => new RecordChunks((from, to, signal) => recordsOf(client(signal), run, from, to)),
  )
  const [first, last] = [points[0], points.at(-1)]
  const from = first?.point === 0 ? 0 : (first?.seq ?? 0)
  const to = Math.min(frames, (last?.seq ?? 0) + 1)
  const isNear = first !== undefined && to - from <= MAX_RECORDS
  const { value } = useLoad(isNear ? `${from} ${to}` : undefined, (_, signal) =>
    chunks.read(from, to, frames, signal),
  )
  return useMemo(() => {
    if (isNear && value) return { markers: markersOf(value, points), isFar: false }
    return { markers: statusMarkers(points), isFar: first !== undefined && !isNear }
  }, [value, points, first, isNear])
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
