import { Redacted } from '#client'
import { isRunfoldError, type LoginAnswer } from '#schema'

const KEY = 'runfold.token'

/** The token of this tab; it never stands in an address, and ends with the tab. */
export function keptToken(): Redacted | undefined {
  const text = sessionStorage.getItem(KEY)
  return text === null ? undefined : new Redacted(text)
}

export function keepToken(text: string): Redacted {
  sessionStorage.setItem(KEY, text)
  return new Redacted(text)
}

export const forgetToken = () => sessionStorage.removeItem(KEY)

const LOGIN = /^#login=([\w-]+)$/

/**
 * Takes the one-time code of a printed link out of the address, so that neither history nor bookmarks keep it, and signs in.
 * Undefined where the address holds none.
 *
 * @throws RunfoldError as `POST /v1/login` refuses
 */
export async function signInByLink(
  exchange: (code: string) => Promise<LoginAnswer>,
): Promise<Redacted | undefined> {
  const code = LOGIN.exec(location.hash)?.[1]
  if (code === undefined) return undefined
  history.replaceState(null, '', '#/runs')
  return keepToken((await exchange(code)).token)
}

/** What a person can do about a link that does not work any more. */
export const linkProblem = (error: unknown): string =>
  isRunfoldError(error, 'unauthorized')
    ? 'The link was used already or is older than two minutes. Start the server again for a new one, or sign in with a token.'
    : `Signing in by the link failed: ${error instanceof Error ? error.message : String(error)}`
