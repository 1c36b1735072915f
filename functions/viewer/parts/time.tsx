import type { JSX } from 'preact'
import type { Int } from '#schema'
import { ago, momentOf, NOTHING } from '../data/format.ts'
import { useNow } from './use-now.ts'

interface TimeProps {
  /** Unix seconds, or RFC 3339. */
  readonly at: Int | string | null | undefined
}

/** A moment in the reader's zone; pointing at it shows UTC. */
export function Time({ at }: TimeProps): JSX.Element {
  const moment = at === null || at === undefined ? undefined : momentOf(at)
  if (!moment) return <span>{at === null || at === undefined ? NOTHING : String(at)}</span>
  return (
    <time dateTime={moment.iso} title={moment.utc}>
      {moment.local}
    </time>
  )
}

/** How long ago it was; pointing at it shows when. */
export function Age({ at }: TimeProps): JSX.Element {
  const now = useNow()
  const moment = at === null || at === undefined ? undefined : momentOf(at)
  if (at === null || at === undefined || !moment) return <Time at={at} />
  return (
    <time dateTime={moment.iso} title={`${moment.local} · ${moment.utc}`}>
      {ago(at, now)}
    </time>
  )
}
