import type { JSX } from 'preact'
import { MARKER_KINDS, type Marker } from '../data/markers.ts'
import type { Span } from '../data/tiles.ts'

interface MarkerStripProps {
  readonly markers: readonly Marker[]
  readonly span: Span
}

const LANE = 14

/** A lane for each kind of thing that happened, under the chart; the records list tells the same in words. */
export function MarkerStrip({ markers, span }: MarkerStripProps): JSX.Element {
  const kinds = MARKER_KINDS.filter((kind) => markers.some((marker) => marker.kind === kind))
  const width = Math.max(1, span.to - span.from)
  return (
    <div class="markers">
      {kinds.map((kind) => (
        <div class="lane" key={kind}>
          <span class="lane-name">{kind}</span>
          <svg aria-hidden="true" height={LANE} class={`lane-${kind}`}>
            {markers
              .filter(
                (marker) => marker.kind === kind && marker.point >= span.from && marker.point <= span.to,
              )
              .map(({ seq, point, label }) => (
                <rect
                  key={seq}
                  x={`${((point - span.from) / width) * 100}%`}
                  y={2}
                  width={3}
                  height={LANE - 4}
                  rx={1}
                >
                  <title>{label}</title>
                </rect>
              ))}
          </svg>
        </div>
      ))}
    </div>
  )
}
