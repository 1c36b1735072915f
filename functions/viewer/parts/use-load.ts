import { useEffect, useState } from 'preact/hooks'
import type { Client } from '#client'
import { isRunfoldError } from '#schema'
import { useSigned } from './context.ts'

export interface Loaded<T> {
  /** What came last; it stays while something newer is loaded. */
  readonly value: T | undefined
  readonly error: unknown
  readonly isLoading: boolean
  readonly again: () => void
}

type Load<T> = (client: Client, signal: AbortSignal) => Promise<T>

/**
 * Loads something whenever `what` is another text; undefined loads nothing. What was asked for before is aborted, so a
 * late answer never replaces a newer one.
 *
 * @param load asks for what the text says
 */
export function useLoad<T>(what: string | undefined, load: Load<T>): Loaded<T> {
  const { client, expired } = useSigned()
  const [round, setRound] = useState(0)
  const [state, setState] = useState<{ value?: T; error?: unknown; of?: string }>({})
  const wanted = what === undefined ? undefined : `${round} ${what}`

  useEffect(() => {
    if (wanted === undefined) return
    const leaving = new AbortController()
    load(client(leaving.signal), leaving.signal).then(
      (value) => !leaving.signal.aborted && setState({ value, of: wanted }),
      (error: unknown) => {
        if (leaving.signal.aborted) return
        if (isRunfoldError(error, 'unauthorized')) expired(error)
        else setState((old) => ({ ...old, error, of: wanted }))
      },
    )
    return () => leaving.abort()
  }, [wanted])

  return {
    value: state.value,
    error: state.of === wanted ? state.error : undefined,
    isLoading: wanted !== undefined && state.of !== wanted,
    again: () => setRound((n) => n + 1),
  }
}
