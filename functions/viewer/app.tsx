import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Redacted } from '#client'
import { type Capabilities, isRunfoldError } from '#schema'
import { clientOf } from './api.ts'
import { sentence } from './data/format.ts'
import { SignedContext } from './parts/context.ts'
import { Loading, Problem } from './parts/problem.tsx'
import { useRoute } from './parts/use-route.ts'
import { forgetToken, keepToken } from './session.ts'
import { Place } from './views/place.tsx'
import { Shell } from './views/shell.tsx'
import { SignIn } from './views/sign-in.tsx'

interface AppProps {
  readonly token: Redacted | undefined
  /** Why nobody is signed in though somebody tried. */
  readonly notice: string | undefined
}

/** Who is signed in, and what this server offers; then the place the address names. */
export function App(props: AppProps): JSX.Element {
  const [token, setToken] = useState(props.token)
  const [notice, setNotice] = useState(props.notice)
  const [capabilities, setCapabilities] = useState<Capabilities>()
  const [error, setError] = useState<unknown>()
  const [round, setRound] = useState(0)
  const route = useRoute()

  const signOut = (why?: string) => {
    forgetToken()
    setNotice(why)
    setCapabilities(undefined)
    setToken(undefined)
  }
  const expired = (cause: unknown) => {
    const why = cause instanceof Error ? cause.message : 'the token is not good any more'
    signOut(`${sentence(why)} Sign in to go on where you were.`)
  }

  useEffect(() => {
    if (!token) return
    const leaving = new AbortController()
    setError(undefined)
    clientOf(token, leaving.signal)
      .capabilities()
      .then(setCapabilities, (cause: unknown) => {
        if (leaving.signal.aborted) return
        if (isRunfoldError(cause, 'unauthorized')) expired(cause)
        else setError(cause)
      })
    return () => leaving.abort()
  }, [token, round])

  const signed = useMemo(
    () =>
      token &&
      capabilities && { client: (signal: AbortSignal) => clientOf(token, signal), capabilities, expired },
    [token, capabilities],
  )

  if (!token) return <SignIn notice={notice} onToken={(text) => setToken(keepToken(text))} />
  if (error !== undefined) return <Problem error={error} again={() => setRound((n) => n + 1)} />
  if (!signed) return <Loading />
  return (
    <SignedContext.Provider value={signed}>
      <Shell route={route} features={signed.capabilities.features} signOut={() => signOut()}>
        <Place route={route} />
      </Shell>
    </SignedContext.Provider>
  )
}
