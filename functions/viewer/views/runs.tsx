import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Card, ListAnswer } from '#schema'
import { merged } from '../data/listing.ts'
import { type Route, wordsOf } from '../data/route.ts'
import { useSigned } from '../parts/context.ts'
import { Pages } from '../parts/pages.tsx'
import { Loading, Note, Problem } from '../parts/problem.tsx'
import { useLoad } from '../parts/use-load.ts'
import { useEvery } from '../parts/use-now.ts'
import { useTitle } from '../parts/use-title.ts'
import { FirstSteps } from './first-steps.tsx'
import { RunRows } from './run-rows.tsx'
import { RunsFilter } from './runs-filter.tsx'

type RunsRoute = Extract<Route, { view: 'runs' }>

/** Words of the address that are parameters of `GET /v1/runs`. */
const FILTERS = ['q', 'status', 'agent', 'machine', 'parent', 'since', 'order', 'cursor'] as const
const REFRESH_MS = 5000

/** The list of runs: filters and page stand in the address; rows change in place while one looks. */
export function RunsView({ route }: { readonly route: RunsRoute }): JSX.Element {
  useTitle('Runs')
  const query = wordsOf(route.query, FILTERS)
  const key = JSON.stringify(query)
  const first = useLoad(key, (client) => client.list(query))
  const { page, newer } = useRefreshed(first.value, key)
  const isFiltered = Object.keys(query).some((name) => name !== 'order')

  return (
    <>
      <h1>Runs</h1>
      <RunsFilter route={route} />
      {first.error !== undefined && <Problem error={first.error} again={first.again} />}
      {!page && first.isLoading && <Loading />}
      {page && (
        <section aria-label="List of runs" aria-busy={first.isLoading}>
          <p class="news" role="status">
            {newer > 0 && (
              <button type="button" onClick={first.again}>
                Show {newer} newer {newer === 1 ? 'run' : 'runs'}
              </button>
            )}
          </p>
          {page.items.length > 0 && <RunRows runs={page.items} />}
          {page.items.length === 0 && (isFiltered ? <Nothing page={page} /> : <FirstSteps />)}
          <Pages route={route} next={page.next_cursor} />
        </section>
      )}
    </>
  )
}

/** The page with its rows as they are now, in the order they had; runs that came since are counted and not shown. */
function useRefreshed(
  first: ListAnswer | undefined,
  key: string,
): { page: ListAnswer | undefined; newer: number } {
  const { client } = useSigned()
  const [fresh, setFresh] = useState<{ first: ListAnswer; items: readonly Card[]; newer: number }>()
  const isFirstPage = !key.includes('"cursor"') && !key.includes('"asc"')
  useEvery(REFRESH_MS, () => {
    if (!first) return
    client(AbortSignal.timeout(REFRESH_MS * 2))
      .list(JSON.parse(key))
      .then(
        (now) =>
          setFresh((old) => ({
            first,
            ...merged(old?.first === first ? old.items : first.items, now.items),
          })),
        () => {}, // the next look may do better; the rows stay as they were
      )
  })
  useEffect(() => setFresh(undefined), [first])
  if (!first || fresh?.first !== first) return { page: first, newer: 0 }
  return { page: { ...first, items: [...fresh.items] }, newer: isFirstPage ? fresh.newer : 0 }
}

const Nothing = ({ page }: { readonly page: ListAnswer }) => (
  <Note>
    {page.scan_truncated
      ? 'None among the first 10,000 runs looked at; look further on the next page.'
      : 'No run is like that.'}
  </Note>
)
