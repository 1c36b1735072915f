import type { SessionKey } from '../schema/index.ts'
import type { SessionPlace } from './session-index.ts'

/** Unique within a tenant: neither a harness nor a machine holds a slash. */
export function sessionName({ harness, machine, id }: SessionKey): string {
  return `${harness}/${machine}/${id}`
}

/** What `sessionName` was made of. */
export function namedSession(tenant: string, name: string): SessionKey {
  const [harness = '', machine = ''] = name.split('/', 2)
  const id = name.slice(harness.length + machine.length + 2)
  return { tenant, harness: harness as SessionKey['harness'], machine, id }
}

/** The order of the listing: the newest first, of equal ones the greater name. */
export function comparePlaces(a: SessionPlace, b: SessionPlace): number {
  const [one, other] = [sessionName(a.session), sessionName(b.session)]
  return b.listed_at - a.listed_at || (one > other ? -1 : one < other ? 1 : 0)
}
