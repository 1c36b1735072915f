import type { JSX } from 'preact'
import type { SummaryPoint } from '#schema'
import { count, NOTHING } from '../data/format.ts'
import { Fact } from '../parts/fact.tsx'
import { Status } from '../parts/status.tsx'
import { ShortText } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'

interface PointReadoutProps {
  readonly shown: number
  readonly last: number
  /** The nearest that is known; of an earlier point while one scrubs fast. */
  readonly summary: SummaryPoint | undefined
  readonly isFollowing: boolean
  readonly onNewest: () => void
}

/** Where the reader is, in numbers that keep up with the scrubber. */
export function PointReadout({
  shown,
  last,
  summary,
  isFollowing,
  onNewest,
}: PointReadoutProps): JSX.Element {
  const about = summary && summary.point !== shown ? '≈ ' : ''
  return (
    <div class="readout">
      <h2>
        Point {count(shown)} <span class="of">of {count(last)}</span>
      </h2>
      {!isFollowing && shown < last && (
        <button type="button" class="quiet" onClick={onNewest}>
          {count(last - shown)} newer {last - shown === 1 ? 'point' : 'points'}
        </button>
      )}
      <dl class="facts">
        <Fact name="Time">{summary ? <Time at={summary.at} /> : NOTHING}</Fact>
        <Fact name="Tokens">
          {summary ? `${about}${count(summary.total_tokens)} of ${count(summary.max_tokens)}` : NOTHING}
        </Fact>
        <Fact name="Status">{summary ? <Status status={summary.status} /> : NOTHING}</Fact>
        <Fact name="Stage">
          {summary ? <ShortText text={summary.stage_name || NOTHING} max={40} /> : NOTHING}
        </Fact>
        <Fact name="Iteration">{summary ? `${about}${count(summary.iteration)}` : NOTHING}</Fact>
        <Fact name="Record">{summary ? `${about}${count(summary.seq)}` : NOTHING}</Fact>
      </dl>
    </div>
  )
}
