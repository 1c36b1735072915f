import type { JSX } from 'preact'
import type { SummaryPoint } from '#schema'
import { count, momentOf, spoken } from '../data/format.ts'
import type { Span } from '../data/tiles.ts'

interface ScrubberProps {
  readonly span: Span
  readonly shown: number
  readonly summary: SummaryPoint | undefined
  readonly onPoint: (point: number) => void
  readonly onZoom: (factor: number) => void
}

/** The way through the points by keyboard, touch and mouse; + and − zoom, the arrows move by one point. */
export function Scrubber({ span, shown, summary, onPoint, onZoom }: ScrubberProps): JSX.Element {
  const keys = (event: KeyboardEvent) => {
    if (event.key === '+' || event.key === '=') onZoom(0.5)
    else if (event.key === '-') onZoom(2)
  }
  return (
    <input
      class="scrubber"
      type="range"
      aria-label="Point"
      aria-valuetext={spokenPoint(shown, summary)}
      min={span.from}
      max={span.to}
      step={1}
      value={shown}
      onInput={(event) => onPoint(event.currentTarget.valueAsNumber)}
      onKeyDown={keys}
    />
  )
}

function spokenPoint(shown: number, summary: SummaryPoint | undefined): string {
  if (!summary) return `point ${shown}`
  const { total_tokens, max_tokens, at, status } = summary
  return `point ${shown}, ${count(total_tokens)} of ${count(max_tokens)} tokens, ${spoken(status)}, ${momentOf(at)?.local ?? ''}`
}
