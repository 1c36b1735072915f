import { useEffect, useRef, useState } from 'preact/hooks'
import type { SummaryPoint } from '#schema'
import { Summaries } from '../data/summaries.ts'
import type { Span } from '../data/tiles.ts'
import { useSigned } from './context.ts'

interface Seen {
  /** Of the span, as fine as they have come so far. */
  readonly points: readonly SummaryPoint[]
  /** The nearest one that is known, for a point of any span. */
  nearest(point: number): SummaryPoint | undefined
  readonly error: unknown
  readonly isLoading: boolean
}

/** The summaries of what the reader looks at, of a run that has `total` points now. */
export function useSummaries(run: string, span: Span, total: number): Seen {
  const { client } = useSigned()
  const [summaries] = useState(
    () =>
      new Summaries((query, signal) => client(signal).points(run, { ...query }) as ReturnType<SummaryPages>),
  )
  const [, setRound] = useState(0)
  const [error, setError] = useState<unknown>()
  const [isLoading, setLoading] = useState(true)
  const known = useRef<{ span: Span; points: readonly SummaryPoint[] }>({ span, points: [] })
  const look = () => {
    known.current = { span, points: summaries.known(span) }
    setRound((n) => n + 1)
  }

  useEffect(() => {
    const leaving = new AbortController()
    setLoading(true)
    setError(undefined)
    look()
    summaries
      .fill(span, total, leaving.signal, look)
      .catch((cause) => leaving.signal.aborted || setError(cause))
      .finally(() => leaving.signal.aborted || setLoading(false))
    return () => leaving.abort()
  }, [summaries, span.from, span.to, total])

  return {
    points: known.current.points,
    nearest: (point) => summaries.nearest(point),
    error,
    isLoading,
  }
}

type SummaryPages = ConstructorParameters<typeof Summaries>[0]
