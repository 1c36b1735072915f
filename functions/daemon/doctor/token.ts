import { randomBytes } from 'node:crypto'
import type { Client } from '#client'
import { isRunfoldError, type RunfoldError } from '#schema'
import { bad, type Finding, ok, warning } from './finding.ts'

const SCOPES = ['append', 'read', 'resume'] as const
type Scope = (typeof SCOPES)[number]

const MAKE = 'make one where you have an admin token: runfold token make NAME --scopes append,read,resume'

/** What each scope is for; without the first a watcher can do nothing. */
const NEEDED: Readonly<Record<Scope, string>> = {
  append: 'nothing can be sent',
  read: 'a file cannot be compared before its lease is taken, and ls, show and fold are refused',
  resume: 'pull, resume and claim are refused, and no lease can be taken by force',
}

/**
 * What the token may do, found by asking for things that are not there: a run that has never been is `not_found` for whom it
 * would be shown, and `forbidden` for others. Nothing is made or changed.
 */
export const checkToken = async (client: Client): Promise<readonly Finding[]> => {
  const random = randomBytes(8).toString('hex')
  const first = await refusals(client, `doctor-${random}`)
  const unknown = Object.values(first).find((refused) => refused?.code === 'unauthorized')
  if (unknown) return [bad('token', unknown.message, `set RUNFOLD_TOKEN; ${MAKE}`)]
  const prefix = Object.values(first).find((refused) => refused?.facts.run_prefix)?.facts.run_prefix
  const all = prefix ? await refusals(client, `${prefix}${random}`.slice(0, 128)) : first
  const has = SCOPES.filter((scope) => all[scope]?.code !== 'forbidden')
  const bound = prefix ? `, for runs that begin with ${prefix}` : ''
  return [
    ok('token', `is taken; scopes ${has.join(', ') || 'none of append, read, resume'}${bound}`),
    ...SCOPES.filter((scope) => !has.includes(scope)).map(lacking),
  ]
}

const lacking = (scope: Scope): Finding => {
  const found = `lacks ${scope}: ${NEEDED[scope]}`
  return scope === 'append' ? bad('token', found, MAKE) : warning('token', found, `if you want that, ${MAKE}`)
}

type Refusals = Readonly<Record<Scope, RunfoldError | undefined>>

const refusals = async (client: Client, run: string): Promise<Refusals> => {
  const [append, read, resume] = await Promise.all([
    refusal(client.renew(run, { epoch: 0 })),
    refusal(client.leaseState(run)),
    refusal(client.archive(run)),
  ])
  return { append, read, resume }
}

const refusal = async (answer: Promise<unknown>): Promise<RunfoldError | undefined> => {
  try {
    await answer
    return undefined
  } catch (error) {
    if (isRunfoldError(error)) return error
    throw error
  }
}
