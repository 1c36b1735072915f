import { useEffect, useMemo, useState } from 'preact/hooks'
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
}

/** The summaries of what the reader looks at, of a run that has `total` points now. */
export function useSummaries(run: string, span: Span, total: number): Seen {
  const { client } = useSigned()
  const [round, setRound] = useState(0)
  const [summaries] = useState(
    () =>
      new Summaries(
        (query, signal) => client(signal).points(run, { ...query }) as ReturnType<AskPage>,
        () => setRound((n) => n + 1),
      ),
  )
  useEffect(() => summaries.look(span, total), [summaries, span.from, span.to, total])
  useEffect(() => () => summaries.leave(), [summaries])
  const points = useMemo(() => summaries.known(span), [summaries, round, span.from, span.to])
  return { points, nearest: (point) => summaries.nearest(point), error: summaries.error }
}

type AskPage = ConstructorParameters<typeof Summaries>[0]
