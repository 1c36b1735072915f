import type { JSX } from 'preact'
import { HARNESSES, type ListedSession } from '#schema'
import { bytes, count } from '../data/format.ts'
import { hashOf, type Route, withQuery, wordsOf } from '../data/route.ts'
import { Pages } from '../parts/pages.tsx'
import { Loading, Note, Problem } from '../parts/problem.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { ShortText } from '../parts/text.tsx'
import { Age } from '../parts/time.tsx'
import { Typed } from '../parts/typed.tsx'
import { useLoad } from '../parts/use-load.ts'
import { useEvery } from '../parts/use-now.ts'
import { navigate } from '../parts/use-route.ts'
import { useTitle } from '../parts/use-title.ts'

type SessionsRoute = Extract<Route, { view: 'sessions' }>

const FILTERS = ['q', 'harness', 'machine', 'cwd', 'cursor'] as const
const REFRESH_MS = 10_000

/** The catalog of sessions, the newest first. */
export function SessionsView({ route }: { readonly route: SessionsRoute }): JSX.Element {
  useTitle('Sessions')
  const query = wordsOf(route.query, FILTERS)
  const page = useLoad(JSON.stringify(query), (client) => client.sessions(query))
  // The order is by the last change, so new rows push the others down; only the first page is kept up.
  useEvery(REFRESH_MS, () => query.cursor === undefined && window.scrollY === 0 && page.again())
  const { value } = page
  return (
    <>
      <h1>Sessions</h1>
      <Filter route={route} />
      {page.error !== undefined && <Problem error={page.error} again={page.again} />}
      {!value && page.isLoading && <Loading />}
      {value && (
        <section aria-label="List of sessions">
          {value.items.length > 0 ? (
            <Rows sessions={value.items} />
          ) : (
            <Nothing isFiltered={Object.keys(query).length > 0} />
          )}
          <Pages route={route} next={value.next_cursor} />
        </section>
      )}
    </>
  )
}

const Nothing = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <Note>
    {isFiltered ? (
      'No session is like that.'
    ) : (
      <>
        No sessions yet. <code>runfold sync</code> archives those of the coding agents on a machine.
      </>
    )}
  </Note>
)

function Filter({ route }: { readonly route: SessionsRoute }): JSX.Element {
  const { query } = route
  const change = (name: string, value: string) =>
    navigate(withQuery(route, { [name]: value || undefined, cursor: undefined }), 'replace')
  return (
    <form class="filters" aria-label="Filter sessions" onSubmit={(event) => event.preventDefault()}>
      <Typed label="Search" name="q" value={query.q} change={change} hint="title, id, folder" />
      <label>
        Harness
        <select
          value={query.harness ?? ''}
          onChange={(event) => change('harness', event.currentTarget.value)}
        >
          <option value="">any</option>
          {HARNESSES.map((harness) => (
            <option key={harness} value={harness}>
              {harness}
            </option>
          ))}
        </select>
      </label>
      <Typed label="Machine" name="machine" value={query.machine} change={change} />
      <Typed label="Folder" name="cwd" value={query.cwd} change={change} />
    </form>
  )
}

const Rows = ({ sessions }: { readonly sessions: readonly ListedSession[] }) => (
  <table class="runs">
    <TableHead
      columns={[
        ['Session'],
        ['Harness'],
        ['Prompts', 'number wide'],
        ['Tool calls', 'number wide'],
        ['Raw', 'number wide'],
        ['Machine', 'wide'],
        ['Updated', 'number'],
      ]}
    />
    <tbody>
      {sessions.map((session) => (
        <Row key={`${session.machine} ${session.harness} ${session.id}`} session={session} />
      ))}
    </tbody>
  </table>
)

function Row({ session }: { readonly session: ListedSession }): JSX.Element {
  const { harness, id, machine, title, cwd, problem_count, agent_count } = session
  return (
    <tr>
      <th scope="row">
        <a href={hashOf({ view: 'session', harness, id, query: { machine } })}>
          <ShortText text={title} max={140} />
        </a>
        <span class="under">
          <ShortText text={cwd ?? id} max={100} />
          {agent_count > 0 && ` · ${count(agent_count)} ${agent_count === 1 ? 'sub-agent' : 'sub-agents'}`}
        </span>
        {problem_count > 0 && (
          <span class="under bad">
            {count(problem_count)} {problem_count === 1 ? 'problem' : 'problems'}
          </span>
        )}
      </th>
      <td>{harness}</td>
      <td class="number wide">{count(session.prompt_count)}</td>
      <td class="number wide">{count(session.tool_call_count)}</td>
      <td class="number wide">{bytes(session.raw_bytes)}</td>
      <td class="wide">{machine}</td>
      <td class="number">
        <Age at={session.updated_at ?? session.archived_at} />
      </td>
    </tr>
  )
}
