import type { JSX } from 'preact'
import type { DiffAnswer, SummaryPoint } from '#schema'
import { count } from '../data/format.ts'
import { hashOf, numberIn, withQuery } from '../data/route.ts'
import { Loading, Note, Problem } from '../parts/problem.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { ShortText } from '../parts/text.tsx'
import { useLoad } from '../parts/use-load.ts'
import { navigate } from '../parts/use-route.ts'
import { DeltaView } from './delta.tsx'
import type { RunTabProps } from './run-tab.ts'

/** What leads from any point to any other, backwards too. */
export function CompareTab({ route, run }: RunTabProps): JSX.Element {
  const last = run.points - 1
  if (last < 0) return <Note>The window is empty: no record has changed it yet.</Note>
  const from = Math.min(last, numberIn(route.query, 'from') ?? Math.max(0, last - 1))
  const to = Math.min(last, numberIn(route.query, 'to') ?? last)
  const go = (change: { from?: number; to?: number }) => {
    const next = { from, to, ...change }
    navigate(withQuery(route, { from: String(next.from), to: String(next.to) }), 'replace')
  }
  return (
    <section class="compare" aria-label="Compare two points">
      <form class="filters" aria-label="Points to compare" onSubmit={(event) => event.preventDefault()}>
        <PointField label="From point" value={from} last={last} onPoint={(point) => go({ from: point })} />
        <PointField label="To point" value={to} last={last} onPoint={(point) => go({ to: point })} />
        <button type="button" onClick={() => go({ from: to, to: from })}>
          Swap
        </button>
        <span class="help">
          of {count(last)} · <PointLink route={route} point={from} /> · <PointLink route={route} point={to} />
        </span>
      </form>
      <Comparison run={run.run_id} from={from} to={to} />
    </section>
  )
}

interface PointFieldProps {
  readonly label: string
  readonly value: number
  readonly last: number
  readonly onPoint: (point: number) => void
}

const PointField = ({ label, value, last, onPoint }: PointFieldProps) => (
  <label>
    {label}
    <input
      type="number"
      min={0}
      max={last}
      value={value}
      onChange={({ currentTarget: { valueAsNumber } }) => {
        if (Number.isSafeInteger(valueAsNumber)) onPoint(Math.min(last, Math.max(0, valueAsNumber)))
      }}
    />
  </label>
)

const PointLink = ({ route, point }: { readonly route: RunTabProps['route']; readonly point: number }) => (
  <a href={hashOf({ ...route, tab: 'window', query: { point: String(point) } })}>window at {count(point)}</a>
)

interface Pair {
  readonly run: string
  readonly from: number
  readonly to: number
}

function Comparison({ run, from, to }: Pair): JSX.Element {
  const change = useLoad<DiffAnswer>(`${from} ${to}`, (client) => client.diff(run, from, to))
  const ends = useLoad(`${from} ${to}`, async (client) => {
    const summary = async (point: number) => (await client.points(run, { from: point, limit: 1 })).items[0]
    return (await Promise.all([summary(from), summary(to)])) as [SummaryPoint, SummaryPoint]
  })
  return (
    <div class="compare" aria-busy={change.isLoading || ends.isLoading}>
      {ends.value && <Totals before={ends.value[0]} after={ends.value[1]} />}
      <h2>
        What leads from point {count(from)} to point {count(to)}
      </h2>
      {change.error !== undefined && <Problem error={change.error} again={change.again} />}
      {!change.value && change.isLoading && <Loading />}
      {change.value && <DeltaView change={change.value} />}
    </div>
  )
}

/** The regions of both ends side by side. */
function Totals({
  before,
  after,
}: {
  readonly before: SummaryPoint
  readonly after: SummaryPoint
}): JSX.Element {
  const names = [...new Set([...before.regions, ...after.regions].map(({ name }) => name))]
  return (
    <table>
      <caption class="help">Tokens of each region</caption>
      <TableHead
        columns={[
          ['Region'],
          [`Point ${count(before.point)}`, 'number'],
          [`Point ${count(after.point)}`, 'number'],
          ['Change', 'number'],
        ]}
      />
      <tbody>
        {names.map((name) => (
          <Total key={name} name={name} before={tokensIn(before, name)} after={tokensIn(after, name)} />
        ))}
        <Total name="all regions" before={BigInt(before.total_tokens)} after={BigInt(after.total_tokens)} />
      </tbody>
    </table>
  )
}

interface TotalProps {
  readonly name: string
  readonly before: bigint
  readonly after: bigint
}

const Total = ({ name, before, after }: TotalProps) => (
  <tr>
    <th scope="row">
      <ShortText text={name} max={60} />
    </th>
    <td class="number">{count(before)}</td>
    <td class="number">{count(after)}</td>
    <td class="number">
      {after === before ? '' : `${after > before ? '+' : '−'}${count(magnitude(after - before))}`}
    </td>
  </tr>
)

const magnitude = (value: bigint) => (value < 0n ? -value : value)

const tokensIn = ({ regions }: SummaryPoint, wanted: string): bigint =>
  regions.reduce(
    (sum, { name, current_tokens }) => (name === wanted ? sum + BigInt(current_tokens) : sum),
    0n,
  )
