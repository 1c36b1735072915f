import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { LoginAnswer } from '#schema'
import { RunfoldError } from '#schema'
import type { Clock, Principal, Tokens } from '#store'

/** How the person who starts a server signs in to its viewer: a code that works once (API.md, `POST /v1/login`). */
export interface Login {
  /** For the fragment of the link that is printed; browsers send fragments nowhere. */
  readonly code: string
  /**
   * A token for the code.
   *
   * @throws unauthorized for another code, a used or an old one; slow_down at too many tries
   */
  exchange(code: string): Promise<LoginAnswer>
}

const CODE_MS = 120_000
const TOKEN_MS = 12 * 3_600_000
const TRIES = 10
const TRIES_MS = 60_000

interface LoginParts {
  readonly tokens: Tokens
  /** Who gives the token; it is no wider than theirs. */
  readonly maker: () => Promise<Principal | undefined>
  readonly clock: Clock
}

export function createLogin({ tokens, maker, clock }: LoginParts): Login {
  const code = randomBytes(24).toString('base64url')
  const until = clock.now() + CODE_MS
  let isUsed = false
  let tries: number[] = []

  const countTry = () => {
    tries = tries.filter((at) => at > clock.now() - TRIES_MS)
    if (tries.length >= TRIES)
      throw new RunfoldError('slow_down', 'too many codes were tried', { retry_after_s: TRIES_MS / 1000 })
    tries.push(clock.now())
  }

  return {
    code,
    exchange: async (given) => {
      countTry()
      if (!isSame(given, code) || isUsed || clock.now() >= until) throw refused()
      isUsed = true // before anything is awaited: of two at once only one gets a token
      const giver = await maker()
      if (!giver) throw refused()
      const expires_at = new Date(clock.now() + TOKEN_MS).toISOString()
      const made = await tokens.make(giver, { name: 'viewer', scopes: ['read', 'resume'], expires_at })
      return { token: made.token, expires_at }
    },
  }
}

/** Takes as long for every given code of the same length. */
function isSame(given: string, code: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(code)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const refused = () =>
  new RunfoldError('unauthorized', 'the code is wrong, was used already, or is older than two minutes')
