import type { SessionKey } from '#schema'
import { requireNoPrefix } from './auth.ts'
import type { Call } from './route.ts'

export const SESSION_PATH = '/v1/sessions/{harness}/{session_id}'

/**
 * The session a request is about, in the caller's own tenant. Without `machine` it is the only one of that name.
 *
 * @throws forbidden for a token that is bound to runs of a prefix, bad_request naming the machines, not_found
 */
export async function sessionOf({ parts, principal, params, query }: Call): Promise<SessionKey> {
  requireNoPrefix(principal)
  const { harness, session_id } = params as { harness: SessionKey['harness']; session_id: string }
  const { machine } = query as { machine?: string }
  return parts.sessions.find({ tenant: principal.tenant, harness, id: session_id }, machine)
}

/** For the record of who did what. */
export const nameOf = ({ machine, harness, id }: SessionKey): string => `${machine}/${harness}/${id}`
