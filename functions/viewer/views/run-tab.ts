import type { RunAnswer } from '#schema'
import type { Route } from '../data/route.ts'

export type RunRoute = Extract<Route, { view: 'run' }>

/** What every tab of a run is given. */
export interface RunTabProps {
  readonly route: RunRoute
  readonly run: RunAnswer
}
