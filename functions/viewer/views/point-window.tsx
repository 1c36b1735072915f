import type { JSX } from 'preact'
import type { DeltaPoint, FullPoint } from '#schema'
import { Loading, Problem } from '../parts/problem.tsx'
import { useLoad } from '../parts/use-load.ts'
import { DeltaView } from './delta.tsx'
import { WindowView } from './window.tsx'

interface PointWindowProps {
  readonly run: string
  readonly point: number
  /** The regions that have a colour in the chart. */
  readonly names: readonly string[]
}

/** One point exactly: what its record changed, and the window after it. */
export function PointWindow({ run, point, names }: PointWindowProps): JSX.Element {
  const full = useLoad<FullPoint>(`${point}`, (client) => client.point(run, point))
  const change = useLoad(`${point}`, async (client) => {
    const { items } = await client.points(run, { from: point, limit: 1, shape: 'delta' })
    return items[0] as DeltaPoint | undefined
  })
  return (
    <div class="point" aria-busy={full.isLoading || change.isLoading}>
      <section aria-label="What changed">
        <h2>What record {change.value?.seq ?? '…'} changed</h2>
        {change.error !== undefined && <Problem error={change.error} again={change.again} />}
        {change.value && <DeltaView change={change.value} />}
        {!change.value && change.isLoading && <Loading />}
      </section>
      <section aria-label="The window">
        <h2>The window</h2>
        {full.error !== undefined && <Problem error={full.error} again={full.again} />}
        {full.value && <WindowView window={full.value.context} names={names} />}
        {!full.value && full.isLoading && <Loading />}
      </section>
    </div>
  )
}
