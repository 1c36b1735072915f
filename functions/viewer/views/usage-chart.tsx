import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import type { UsageAnswer } from '#schema'
import { type Bins, binsOf } from '../data/bins.ts'
import { compact, count, tick } from '../data/format.ts'
import { axisLook } from '../parts/axis.ts'
import { useColors } from '../parts/colors.ts'
import { useWidth } from '../parts/use-width.ts'

interface UsageChartProps {
  readonly series: UsageAnswer['series']
  readonly bucketSeconds: number
}

const HEIGHT = 200

/** Tokens in and out over time, a bar for each stretch of it; the table below tells the sums. */
export function UsageChart({ series, bucketSeconds }: UsageChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  const width = useWidth(place)
  const colors = useColors()
  const bins = useMemo(() => binsOf(series, bucketSeconds), [series, bucketSeconds])
  useEffect(() => {
    if (!place.current || width === 0) return
    const made = new uPlot(optionsOf(width, colors), dataOf(bins), place.current)
    return () => made.destroy()
  }, [bins, width, colors])
  const span = `each bar ${count(bins.seconds)} ${bins.seconds === 1 ? 'second' : 'seconds'}`
  return (
    <figure class="timeline">
      <figcaption class="help">
        <span class="swatch band-0" /> in and <span class="swatch band-1" /> out, {span}
      </figcaption>
      <div class="usage-plot" ref={place} aria-hidden="true" />
    </figure>
  )
}

/** Stacked: what went in stands on what came out. */
const dataOf = ({ at, input, output }: Bins): uPlot.AlignedData => [
  [...at],
  input.map((tokens, n) => tokens + (output[n] ?? 0)),
  [...output],
]

function optionsOf(width: number, colors: (name: string) => string): uPlot.Options {
  const look = axisLook(colors)
  const paths = uPlot.paths.bars?.({ size: [0.9, 24] })
  const bars = (color: string) => ({
    fill: colors(color),
    width: 0,
    points: { show: false },
    ...(paths && { paths }),
  })
  return {
    width,
    height: HEIGHT,
    padding: [8, 36, 0, 0], // half a label stands right of the last bar
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_, __, most) => [0, most * 1.06] } },
    axes: [
      {
        ...look,
        size: 28,
        space: 100,
        values: (_, ticks, __, ___, step) => ticks.map((at) => tick(at, step)),
      },
      { ...look, size: 64, values: (_, ticks) => ticks.map((tokens) => compact(tokens)) },
    ],
    series: [{}, bars('--band-0'), bars('--band-1')],
  }
}
