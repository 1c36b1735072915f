import type { JSX } from 'preact'
import type { Card, Int } from '#schema'
import { compact, count, NOTHING } from '../data/format.ts'
import { hashOf } from '../data/route.ts'
import { Status } from '../parts/status.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { ShortText } from '../parts/text.tsx'
import { Age } from '../parts/time.tsx'

/** Runs as a table; on narrow screens what matters less is left out. */
export function RunRows({ runs }: { readonly runs: readonly Card[] }): JSX.Element {
  return (
    <table class="runs">
      <TableHead
        columns={[
          ['Run'],
          ['Status'],
          ['Agent', 'wide'],
          ['Tokens', 'number wide'],
          ['Owner', 'wide'],
          ['Updated', 'number'],
        ]}
      />
      <tbody>
        {runs.map((run) => (
          <Row key={run.run_id} run={run} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ run }: { readonly run: Card }): JSX.Element {
  const { run_id, title, task, agent_name, machine_id, error, parent_run_id } = run
  const name = title || task || run_id
  return (
    <tr data-run={run_id}>
      <th scope="row">
        <a href={hashOf({ view: 'run', run: run_id, tab: 'window', query: {} })}>
          <ShortText text={name} max={140} />
        </a>
        <span class="under">
          {name !== run_id && <code>{run_id}</code>}
          {parent_run_id && (
            <>
              {' of '}
              <ShortText text={parent_run_id} max={60} />
            </>
          )}
        </span>
        {error && (
          <span class="under bad">
            <ShortText text={error} max={140} />
          </span>
        )}
      </th>
      <td>
        <Status status={run.status} />
      </td>
      <td class="wide">{agent_name === null ? NOTHING : <ShortText text={agent_name} max={40} />}</td>
      <td class="number wide">
        <Tokens run={run} />
      </td>
      <td class="wide">{machine_id === null ? NOTHING : <ShortText text={machine_id} max={20} />}</td>
      <td class="number">
        <Age at={run.updated_at ?? run.started_at} />
      </td>
    </tr>
  )
}

function Tokens({ run: { prompt_tokens, completion_tokens } }: { readonly run: Card }): JSX.Element {
  if (prompt_tokens === null || completion_tokens === null) return <>{NOTHING}</>
  const sum: Int = BigInt(prompt_tokens) + BigInt(completion_tokens)
  return <span title={`${count(prompt_tokens)} in, ${count(completion_tokens)} out`}>{compact(sum)}</span>
}
