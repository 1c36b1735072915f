import type { JSX } from 'preact'
import { hashOf, type Route, withQuery } from '../data/route.ts'

interface PagesProps {
  /** A list whose address names its page. */
  readonly route: Route
  /** Of the page behind this one; null on the last. */
  readonly next: string | null
}

/** The way to the next page of a list, and back to its first. */
export function Pages({ route, next }: PagesProps): JSX.Element {
  return (
    <nav class="pages" aria-label="Pages">
      {route.query.cursor !== undefined && (
        <a href={hashOf(withQuery(route, { cursor: undefined }))}>First page</a>
      )}
      {next !== null && (
        <a href={hashOf(withQuery(route, { cursor: next }))} rel="next">
          Next page
        </a>
      )}
    </nav>
  )
}
