import type { Client } from '#client'
import { type Harness, type ListedSession, RunfoldError } from '#schema'
import { UsageError } from '../usage-error.ts'

/** Characters of an id that stand for it. */
const LEAST = 4

export interface Wanted {
  readonly harness?: readonly Harness[]
  readonly machine?: string
}

/**
 * The session a person means: its id, or a beginning of it of LEAST characters that no other session has.
 *
 * @throws RunfoldError `not_found`; UsageError where there may be several, which it names, or the beginning is too short
 */
export const findSession = async (
  client: Client,
  id: string,
  { harness, machine }: Wanted,
): Promise<ListedSession> => {
  const found: ListedSession[] = []
  let cursor: string | null | undefined
  do {
    const page = await client.sessions({
      q: id,
      limit: 200,
      ...(machine && { machine }),
      ...(cursor && { cursor }),
    })
    found.push(...page.items)
    cursor = page.next_cursor
  } while (cursor)
  const ofHarness = found.filter((entry) => !harness || harness.includes(entry.harness))
  const exact = ofHarness.filter((entry) => entry.id === id)
  const wanted =
    exact.length > 0 ? exact : ofHarness.filter((entry) => id.length >= LEAST && entry.id.startsWith(id))
  const [only] = wanted
  if (only && wanted.length === 1) return only
  if (!only && id.length < LEAST)
    throw new UsageError(
      `no session has the id ${id}; of a longer id at least ${LEAST} characters are needed`,
    )
  if (!only)
    throw new RunfoldError('not_found', `there is no session ${id}; \`runfold sessions ls\` lists them`)
  const names = wanted.map((entry) => `${entry.harness} ${entry.id} on ${entry.machine}`).join(', ')
  throw new UsageError(`${id} may be ${names}; say --harness, --machine or more of the id`)
}
