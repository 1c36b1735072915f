import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Feature } from '#schema'
import { hashOf, type Route } from '../data/route.ts'
import { useScroll } from '../parts/use-scroll.ts'

interface ShellProps {
  readonly route: Route
  readonly features: readonly Feature[]
  readonly signOut: () => void
  readonly children: ComponentChildren
}

/** What stands around every view. */
export function Shell({ route, features, signOut, children }: ShellProps): JSX.Element {
  const main = useRef<HTMLElement>(null)
  const place = placeOf(route)
  useScroll(hashOf(route))
  const shown = useRef(place)
  useEffect(() => {
    if (shown.current === place) return
    shown.current = place
    main.current?.focus({ preventScroll: true }) // or a screen reader stays where the old view was
  }, [place])
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="shell">
        <a class="brand" href={hashOf({ view: 'runs', query: {} })}>
          <Mark />
          runfold
        </a>
        <nav aria-label="Views">
          <Tab
            name="Runs"
            isHere={route.view === 'runs' || route.view === 'run'}
            to={{ view: 'runs', query: {} }}
          />
          {features.includes('sessions') && (
            <Tab
              name="Sessions"
              isHere={route.view === 'sessions' || route.view === 'session'}
              to={{ view: 'sessions', query: {} }}
            />
          )}
        </nav>
        <button type="button" class="quiet" onClick={signOut}>
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
    </>
  )
}

/** Views that are one page to a reader share a name. */
function placeOf(route: Route): string {
  if (route.view === 'run') return `run ${route.run}`
  if (route.view === 'session') return `session ${route.harness} ${route.id}`
  return route.view
}

interface TabProps {
  readonly name: string
  readonly isHere: boolean
  readonly to: Route
}

export const Tab = ({ name, isHere, to }: TabProps) => (
  <a class="tab" href={hashOf(to)} aria-current={isHere ? 'page' : undefined}>
    {name}
  </a>
)

const Mark = () => (
  <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d="M1 2h14v3H1zm0 4.5h10v3H1zM1 11h6v3H1z" />
  </svg>
)
