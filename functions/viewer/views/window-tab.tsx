import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { hashOf, numberIn, withQuery } from '../data/route.ts'
import { bandNames, stackOf } from '../data/stack.ts'
import { type Span, zoomed } from '../data/tiles.ts'
import { Legend } from '../parts/legend.tsx'
import { Note, Problem } from '../parts/problem.tsx'
import { useMarkers } from '../parts/use-markers.ts'
import { navigate } from '../parts/use-route.ts'
import { useSettled } from '../parts/use-settled.ts'
import { useSummaries } from '../parts/use-summaries.ts'
import { MarkerStrip } from './marker-strip.tsx'
import { PointReadout } from './point-readout.tsx'
import { PointWindow } from './point-window.tsx'
import type { RunTabProps } from './run-tab.ts'
import { ScrubControls } from './scrub-controls.tsx'
import { Scrubber } from './scrubber.tsx'
import { Timeline } from './timeline.tsx'

/** A point has stood still for so long when its window is asked for, and its address written; browsers bound the latter. */
const SETTLED_MS = 120
const ADDRESS_MS = 400

/** The context window over time: a picture of all of it, and one point of it exactly. */
export function WindowTab(props: RunTabProps): JSX.Element {
  if (props.run.points === 0) return <Note>The window is empty: no record has changed it yet.</Note>
  return <Windows {...props} />
}

function Windows({ route, run }: RunTabProps): JSX.Element {
  const last = run.points - 1
  const [pinned, pin] = usePinned(route.query.point)
  const shown = Math.min(pinned ?? last, last)
  const span = spanOf(route.query.zoom, last)
  const settled = useSettled(shown, SETTLED_MS)
  const address = useSettled(pinned, ADDRESS_MS)
  useEffect(() => {
    const point = address === undefined ? undefined : String(address)
    if (point !== route.query.point && address === pinned) navigate(withQuery(route, { point }), 'replace')
  }, [address])

  const zoom = (next: Span) => {
    const all = next.from === 0 && next.to === last
    navigate(withQuery(route, { zoom: all ? undefined : `${next.from}-${next.to}` }), 'replace')
  }
  const show = (point: number) => {
    const wanted = Math.min(last, Math.max(0, point))
    pin(wanted)
    if (wanted < span.from || wanted > span.to) zoom(zoomed(moved(span, wanted), wanted, 1, last))
  }
  const seen = useSummaries(run.run_id, span, run.points)
  const names = useMemo(() => bandNames(seen.points), [seen.points])
  const stack = useMemo(() => stackOf(seen.points, names), [seen.points, names])
  const { markers, isFar } = useMarkers(run.run_id, seen.points, run.frames)
  const summary = seen.nearest(shown)
  // The same elements are not looked at again while one scrubs.
  const strip = useMemo(() => <MarkerStrip markers={markers} span={span} />, [markers, span.from, span.to])
  const body = useMemo(
    () => <PointWindow run={run.run_id} point={settled} names={names} />,
    [run.run_id, settled, names],
  )

  return (
    <>
      <section class="timeline" aria-label="Window over time">
        <Legend names={names} hasRest={stack.bands.length > names.length} what="Tokens of" />
        <Timeline stack={stack} span={span} shown={shown} onPoint={show}>
          {strip}
        </Timeline>
        <Scrubber
          span={span}
          shown={shown}
          summary={summary}
          onPoint={show}
          onZoom={(factor) => zoom(zoomed(span, shown, factor, last))}
        />
        <ScrubControls
          span={span}
          shown={shown}
          last={last}
          isFollowing={pinned === undefined}
          onPoint={show}
          onFollow={(isWanted) => pin(isWanted ? undefined : shown)}
          onZoom={zoom}
        >
          <a href={hashOf({ ...route, tab: 'compare', query: comparing(shown) })}>Compare</a>
        </ScrubControls>
        {isFar && (
          <p class="help">
            Zoom in to see inferences, tool batches, handoffs and checkpoints; from here only changes of
            status show.
          </p>
        )}
        {seen.error !== undefined && <Problem error={seen.error} />}
      </section>
      <PointReadout
        shown={shown}
        last={last}
        summary={summary}
        isFollowing={pinned === undefined}
        onNewest={() => pin(undefined)}
      />
      {body}
    </>
  )
}

/** With the point before it. */
const comparing = (point: number) => ({ from: String(Math.max(0, point - 1)), to: String(point) })

/** The point the reader has chosen; undefined while they follow the newest. It changes with the address, and before it. */
function usePinned(inAddress: string | undefined) {
  const pinned = useState(() => numberIn({ point: inAddress ?? '' }, 'point'))
  const [, pin] = pinned
  useEffect(() => pin(numberIn({ point: inAddress ?? '' }, 'point')), [inAddress])
  return pinned
}

/** `zoom=100-300` of the address, within the run; all of it where it says nothing. */
function spanOf(zoom: string | undefined, last: number): Span {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(zoom ?? '') ?? []
  const span = { from: Math.min(Number(from), last), to: Math.min(Number(to), last) }
  return from === undefined || span.from >= span.to ? { from: 0, to: last } : span
}

/** The span moved as little as it takes to hold a point. */
function moved({ from, to }: Span, point: number): Span {
  const by = point < from ? point - from : point > to ? point - to : 0
  return { from: from + by, to: to + by }
}
