import type { JSX } from 'preact'
import { hashOf, type Route } from '../data/route.ts'
import { Note } from '../parts/problem.tsx'
import { RunView } from './run.tsx'
import { RunsView } from './runs.tsx'
import { SessionView } from './session.tsx'
import { SessionsView } from './sessions.tsx'

/** The view of a route. */
export function Place({ route }: { readonly route: Route }): JSX.Element {
  switch (route.view) {
    case 'runs':
      return <RunsView route={route} />
    case 'run':
      return <RunView key={route.run} route={route} />
    case 'sessions':
      return <SessionsView route={route} />
    case 'session':
      return <SessionView key={hashOf({ ...route, query: {} })} route={route} />
    default:
      return (
        <>
          <h1>Nothing here</h1>
          <Note>
            This address names no view. <a href={hashOf({ view: 'runs', query: {} })}>All runs</a>
          </Note>
        </>
      )
  }
}
