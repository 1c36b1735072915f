import type { ComponentChildren, JSX } from 'preact'
import { MIN_WIDTH, type Span, zoomed } from '../data/tiles.ts'

interface ScrubControlsProps {
  readonly span: Span
  readonly shown: number
  readonly last: number
  readonly isFollowing: boolean
  readonly onPoint: (point: number) => void
  readonly onFollow: (isWanted: boolean) => void
  readonly onZoom: (span: Span) => void
  readonly children: ComponentChildren
}

/** Step by step, nearer and farther, and whether to go along with what comes. */
export function ScrubControls(props: ScrubControlsProps): JSX.Element {
  const { span, shown, last, isFollowing, onPoint, onFollow, onZoom, children } = props
  const isAll = span.from === 0 && span.to === last
  const nearer = (factor: number) => () => onZoom(zoomed(span, shown, factor, last))
  return (
    <div class="scrub-row">
      <button
        type="button"
        onClick={() => onPoint(shown - 1)}
        disabled={shown === 0}
        aria-label="Point before"
      >
        ‹
      </button>
      <button
        type="button"
        onClick={() => onPoint(shown + 1)}
        disabled={shown === last}
        aria-label="Next point"
      >
        ›
      </button>
      <button type="button" aria-pressed={isFollowing} onClick={() => onFollow(!isFollowing)}>
        Follow the newest
      </button>
      <span class="zoom">
        <button type="button" onClick={nearer(0.5)} disabled={span.to - span.from <= MIN_WIDTH}>
          Zoom in
        </button>
        <button type="button" onClick={nearer(2)} disabled={isAll}>
          Zoom out
        </button>
        <button type="button" onClick={() => onZoom({ from: 0, to: last })} disabled={isAll}>
          All
        </button>
      </span>
      {children}
    </div>
  )
}
