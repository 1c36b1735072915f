import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Tokens, UsageAnswer } from '#schema'
import { compact, count, NOTHING } from '../data/format.ts'
import { Loading, Note, Problem } from '../parts/problem.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { ShortText } from '../parts/text.tsx'
import { useLoad } from '../parts/use-load.ts'
import type { RunTabProps } from './run-tab.ts'
import { UsageChart } from './usage-chart.tsx'

const SOURCES: Readonly<Record<UsageAnswer['source'], string>> = {
  InferenceUsage: 'Counted from the InferenceUsage records.',
  Inference: 'Counted from the Inference records.',
  meta: 'No record tells of single calls; these are the counters of the run itself.',
  none: 'Nothing tells of usage yet.',
}

/** What the run has cost in tokens: by model, by stage, by kind of call, and over time. */
export function UsageTab({ run }: RunTabProps): JSX.Element {
  // Counting reads the whole run, so one that grows all the time is counted when somebody asks.
  const [counted, setCounted] = useState(run.frames)
  const { value, error, isLoading, again } = useLoad(`${run.run_id} ${counted}`, (client) =>
    client.usage(run.run_id),
  )
  if (!value) {
    if (error !== undefined) return <Problem error={error} again={again} />
    return isLoading ? <Loading /> : <Note>Nothing yet.</Note>
  }
  return (
    <section class="usage" aria-label="Token usage">
      <p class="help">
        {SOURCES[value.source]}{' '}
        {run.frames > counted && (
          <button type="button" class="quiet" onClick={() => setCounted(run.frames)}>
            Count the {count(run.frames - counted)} newer records too
          </button>
        )}
      </p>
      {value.series.length > 1 && <UsageChart series={value.series} bucketSeconds={Number(value.bucket_s)} />}
      <UsageTable
        groups={[
          { title: 'Model', rows: value.by_model.map((row) => ({ name: row.model, ...row })) },
          { title: 'Stage', rows: value.by_stage.map((row) => ({ name: row.stage, ...row })) },
          { title: 'Kind', rows: value.by_kind.map((row) => ({ name: row.kind, ...row })) },
        ]}
        totals={value.totals}
      />
    </section>
  )
}

interface UsageTableProps {
  readonly groups: readonly {
    readonly title: string
    readonly rows: readonly (Tokens & { readonly name: string | null })[]
  }[]
  readonly totals: Tokens
}

const COLUMNS = [
  ['Calls', 'calls', 'number'],
  ['In', 'prompt_tokens', 'number'],
  ['Out', 'completion_tokens', 'number'],
  ['Cached', 'cached_tokens', 'number wide'],
  ['Cache written', 'cache_write_tokens', 'number wide'],
] as const

const UsageTable = ({ groups, totals }: UsageTableProps) => (
  <table>
    <TableHead columns={[['Tokens by'], ...COLUMNS.map(([title, , cells]) => [title, cells] as const)]} />
    {groups
      .filter(({ rows }) => rows.length > 0)
      .map(({ title, rows }) => (
        <tbody key={title}>
          <tr class="group">
            <th scope="rowgroup" colSpan={6}>
              {title}
            </th>
          </tr>
          {rows.map((row, n) => (
            <Row key={n} name={row.name} tokens={row} />
          ))}
        </tbody>
      ))}
    <tbody>
      <tr class="group">
        <th scope="rowgroup" colSpan={6}>
          All
        </th>
      </tr>
      <Row name="the run" tokens={totals} />
    </tbody>
  </table>
)

const Row = ({ name, tokens }: { readonly name: string | null; readonly tokens: Tokens }) => (
  <tr>
    <th scope="row">{name === null ? NOTHING : <ShortText text={name} max={60} />}</th>
    {COLUMNS.map(([title, field, cells]) => (
      <td key={title} class={cells} title={count(tokens[field])}>
        {compact(tokens[field])}
      </td>
    ))}
  </tr>
)
