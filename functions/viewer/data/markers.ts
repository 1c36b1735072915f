import type { RecordItem, RecordKind, SummaryPoint } from '#schema'
import { plain } from './text.ts'

export const MARKER_KINDS = ['inference', 'tools', 'status', 'handoff', 'checkpoint'] as const
export type MarkerKind = (typeof MARKER_KINDS)[number]

/** Something that happened at a point of the window, or after it and before the next. */
export interface Marker {
  readonly kind: MarkerKind
  readonly seq: number
  readonly point: number
  readonly label: string
}

const KIND_OF: Partial<Record<RecordKind, MarkerKind>> = {
  Inference: 'inference',
  InferenceUsage: 'inference',
  ToolBatch: 'tools',
  StatusChanged: 'status',
  OwnershipChanged: 'handoff',
  Checkpoint: 'checkpoint',
  ContextCheckpoint: 'checkpoint',
}

/** The kinds of records that become markers. */
export const MARKED_KINDS = Object.keys(KIND_OF) as readonly RecordKind[]

/** The markers of records, each at the newest of these points that is not after it. */
export function markersOf(records: readonly RecordItem[], points: readonly SummaryPoint[]): Marker[] {
  const markers: Marker[] = []
  let next = 0
  for (const { seq, kind, record } of records) {
    const mark = kind && KIND_OF[kind]
    if (!mark || record === null) continue
    while (next < points.length && (points[next]?.seq ?? 0) <= seq) next++
    const point = points[next - 1]?.point ?? points[0]?.point ?? 0
    markers.push({ kind: mark, seq, point, label: plain(`${labelOf(kind, record)}, record ${seq}`) })
  }
  return markers
}

function labelOf(kind: RecordKind, record: NonNullable<RecordItem['record']>): string {
  if ('StatusChanged' in record) return `status ${record.StatusChanged.status}`
  if ('OwnershipChanged' in record) return `handed to ${record.OwnershipChanged.machine_id}`
  if ('ToolBatch' in record) return `tools ${record.ToolBatch.calls.map(({ name }) => name).join(', ')}`
  if ('InferenceUsage' in record) return `inference by ${record.InferenceUsage.model}`
  if ('Inference' in record) return `inference by ${record.Inference.request.model}`
  return kind
}

/** What the summaries alone tell of a stretch too long to read its records: where the status is another one than before. */
export function statusMarkers(points: readonly SummaryPoint[]): Marker[] {
  return points.flatMap(({ point, seq, status }, n) => {
    const before = points[n - 1]
    if (!before || before.status === status) return []
    return [{ kind: 'status' as const, seq, point, label: `status ${status}` }]
  })
}
