import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Client } from '#client'
import type { Capabilities } from '#schema'

/** What every view may use, once somebody has signed in. */
export interface Signed {
  /** A client whose requests end with the signal. */
  client(signal: AbortSignal): Client
  readonly capabilities: Capabilities
  /** The token is not good any more, as the server said. */
  expired(error: unknown): void
}

export const SignedContext = createContext<Signed | undefined>(undefined)

export function useSigned(): Signed {
  const signed = useContext(SignedContext)
  if (!signed) throw new Error('this part is shown to who is signed in')
  return signed
}
