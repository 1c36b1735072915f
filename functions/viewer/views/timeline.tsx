import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { compact, count } from '../data/format.ts'
import type { Stack } from '../data/stack.ts'
import type { Span } from '../data/tiles.ts'
import { axisLook } from '../parts/axis.ts'
import { bandColor, useColors } from '../parts/colors.ts'
import { useWidth } from '../parts/use-width.ts'

interface TimelineProps {
  readonly stack: Stack
  readonly span: Span
  readonly shown: number
  readonly onPoint: (point: number) => void
  /** Under the plot, with the same gutter. */
  readonly children?: ComponentChildren
}

/** Where the plot begins; the marker strip below it begins there too. */
const GUTTER = 84
const HEIGHT = 220
const RIGHT = 12

/**
 * Tokens of each region, stacked, point by point. uPlot draws it: 20 kB, no framework, and thousands of samples in a few
 * milliseconds. It is a picture of what the scrubber below says in words.
 */
export function Timeline({ stack, span, shown, onPoint, children }: TimelineProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  const head = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const [wanted, setWanted] = useState<boolean>()
  const withLimit = wanted ?? isNearLimit(stack)
  const width = useWidth(place)
  const colors = useColors()
  const shape = stack.bands.map(({ name }) => name ?? '').join('\n')

  useEffect(() => {
    if (!place.current || width === 0) return
    const made = new uPlot(optionsOf(stack, width, colors), dataOf(stack), place.current)
    plot.current = made
    return () => {
      made.destroy()
      plot.current = undefined
    }
  }, [shape, width, colors])

  useEffect(() => {
    const u = plot.current
    if (!u) return
    u.batch(() => {
      u.setData(dataOf(stack), false)
      u.setScale('x', { min: span.from, max: Math.max(span.to, span.from + 1) })
      u.setScale('y', { min: 0, max: topOf(stack, withLimit) })
    })
  }, [stack, span.from, span.to, withLimit, shape, width, colors])

  const ratio = (shown - span.from) / Math.max(1, span.to - span.from)
  useEffect(() => {
    if (!head.current) return
    head.current.style.transform = `translateX(${GUTTER + ratio * Math.max(0, width - GUTTER - RIGHT)}px)`
    head.current.hidden = ratio < 0 || ratio > 1
  }, [ratio, width])

  const pointAt = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const at = (event.clientX - box.left - GUTTER) / Math.max(1, width - GUTTER - RIGHT)
    onPoint(Math.round(span.from + Math.min(1, Math.max(0, at)) * (span.to - span.from)))
  }

  return (
    <>
      <div
        class="plot"
        data-samples={stack.x.length}
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          pointAt(event)
        }}
        onPointerMove={(event) => event.buttons & 1 && pointAt(event)}
      >
        <div ref={place} />
        {children}
        <div class="playhead" ref={head} />
      </div>
      {stack.limit.length > 0 && (
        <label class="check limit">
          <input
            type="checkbox"
            checked={withLimit}
            onChange={(event) => setWanted(event.currentTarget.checked)}
          />
          up to the limit of {count(limitOf(stack))} tokens
        </label>
      )}
    </>
  )
}

/** uPlot wants the columns top edge first, so that each band is painted over by the ones below it. */
const dataOf = ({ x, bands, limit }: Stack): uPlot.AlignedData => [
  x,
  limit.length > 0 ? limit : x.map(() => null),
  ...bands.map(({ top }) => top).reverse(),
]

const highestOf = ({ bands }: Stack) =>
  (bands.at(-1)?.top ?? []).reduce((most, value) => Math.max(most, value), 1)
const limitOf = ({ limit }: Stack) => limit.reduce((most, value) => Math.max(most, value), 1)

/** Below a quarter of the limit the bands would be too thin to see anything in them. */
const isNearLimit = (stack: Stack) => highestOf(stack) * 4 >= limitOf(stack)

const topOf = (stack: Stack, withLimit: boolean) =>
  1.06 * Math.max(highestOf(stack), withLimit ? limitOf(stack) : 0)

function optionsOf({ bands }: Stack, width: number, colors: (name: string) => string): uPlot.Options {
  const look = axisLook(colors)
  return {
    width,
    height: HEIGHT,
    padding: [8, RIGHT, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    scales: { x: { time: false, auto: false }, y: { auto: false } },
    axes: [
      {
        ...look,
        size: 28,
        space: 70,
        values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? tick.toLocaleString() : '')),
      },
      { ...look, size: GUTTER, values: (_, ticks) => ticks.map((tick) => compact(tick)) },
    ],
    series: [
      {},
      { stroke: colors('--bad'), width: 1.5, dash: [6, 4], points: { show: false } },
      ...bands
        .map(({ name }, place) => ({
          label: name ?? 'others',
          fill: colors(bandColor(name === null ? undefined : place)),
          stroke: colors('--surface'),
          width: 1,
          points: { show: false },
        }))
        .reverse(),
    ],
  }
}
