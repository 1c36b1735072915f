import type { JSX } from 'preact'
import { runStatus } from '#schema'
import { spoken } from '../data/format.ts'
import { type Route, withQuery } from '../data/route.ts'
import { type Change, Typed } from '../parts/typed.tsx'
import { navigate } from '../parts/use-route.ts'

type RunsRoute = Extract<Route, { view: 'runs' }>

/** The filters of the list; each change is a new address, without the page that belonged to the old one. */
export function RunsFilter({ route }: { readonly route: RunsRoute }): JSX.Element {
  const { query } = route
  const change: Change = (name, value) =>
    navigate(withQuery(route, { [name]: value || undefined, cursor: undefined }), 'replace')
  const more = ['agent', 'machine', 'since', 'parent', 'order'].some((name) => query[name])
  return (
    <form class="filters" aria-label="Filter runs" onSubmit={(event) => event.preventDefault()}>
      <Typed label="Search" name="q" value={query.q} change={change} hint="title, task, agent, id, error" />
      <label>
        Status
        <select value={query.status ?? ''} onChange={(event) => change('status', event.currentTarget.value)}>
          <option value="">any</option>
          {runStatus.options.map((status) => (
            <option key={status} value={status}>
              {spoken(status)}
            </option>
          ))}
          {query.status?.includes(',') && <option value={query.status}>{spoken(query.status)}</option>}
        </select>
      </label>
      <details open={more}>
        <summary>More filters</summary>
        <div class="filters">
          <Typed label="Agent" name="agent" value={query.agent} change={change} />
          <Typed label="Machine" name="machine" value={query.machine} change={change} />
          <label>
            Made since
            <input
              type="date"
              value={query.since?.slice(0, 10) ?? ''}
              onChange={(event) => change('since', sinceOf(event.currentTarget.value))}
            />
          </label>
          <label>
            Order
            <select
              value={query.order ?? ''}
              onChange={(event) => change('order', event.currentTarget.value)}
            >
              <option value="">newest first</option>
              <option value="asc">oldest first</option>
            </select>
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={query.parent === 'none'}
              onChange={(event) => change('parent', event.currentTarget.checked ? 'none' : '')}
            />
            without sub-runs
          </label>
        </div>
      </details>
    </form>
  )
}

/** A day begins at midnight UTC, as the server's times do. */
const sinceOf = (day: string) => (day ? `${day}T00:00:00Z` : '')
