import type { Scope } from '#schema'
import { RunfoldError } from '#schema'
import type { Principal, Tokens } from '#store'

/** What a route asks of its caller: nothing, any valid token, or one of these scopes. */
export type Need = 'nothing' | 'token' | Scope | readonly Scope[]

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/**
 * Who is asking.
 *
 * @throws unauthorized without a token, or with one that is wrong, revoked or expired
 */
export async function authenticate(headers: Headers, tokens: Tokens): Promise<Principal> {
  const token = BEARER.exec(headers.get('authorization') ?? '')?.[1]
  if (token === undefined) throw new RunfoldError('unauthorized', 'send Authorization: Bearer <token>')
  const principal = await tokens.check(token)
  if (!principal) throw new RunfoldError('unauthorized', 'the token is unknown, revoked or expired')
  return principal
}

/** @throws forbidden, naming the scope that is needed */
export function requireScope(principal: Principal, need: Scope | readonly Scope[]): void {
  const scopes = typeof need === 'string' ? [need] : need
  if (scopes.some((scope) => principal.scopes.includes(scope))) return
  const scope = scopes.join(' or ')
  throw new RunfoldError('forbidden', `this needs a token of scope ${scope}`, { scope })
}

/** Sessions have no run_id, so a token that is bound to a prefix of those sees none of them. */
export function requireNoPrefix({ run_prefix }: Principal): void {
  if (run_prefix === null) return
  throw new RunfoldError('forbidden', 'the token is bound to runs, and sees no sessions', { run_prefix })
}

/** A token that is bound to a prefix sees no other run; what it may not name is refused before anything is looked up. */
export function requirePrefix(principal: Principal, run_id: string): void {
  if (principal.run_prefix === null || run_id.startsWith(principal.run_prefix)) return
  throw new RunfoldError('forbidden', 'the token is bound to runs of another prefix', {
    run_prefix: principal.run_prefix,
  })
}
