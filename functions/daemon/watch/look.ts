import type { RunfoldError } from '#schema'
import { ArchiveFile, NO_PREFIX } from './archive-file.ts'
import { checkHistory } from './history.ts'
import type { Report } from './report.ts'
import { newState, type RunPlace, type RunState, type RunStates, type Trouble } from './run-state.ts'
import { isFinished, type Shipping, shipRun, wasGivenBack } from './ship-run.ts'
import { judge, missingTrouble, rewriteTrouble, troubleOfServer } from './trouble.ts'

export interface Looking {
  readonly states: RunStates
  readonly shipping: Shipping
  readonly report: Report
}

export interface LookOptions {
  /** The file has not changed for a while. */
  readonly isQuiet: boolean
  /** The first look of this process: a run that was stopped gets another chance. */
  readonly isFirst?: boolean
  /** The server serves others: what keeps it from serving this run is the run's trouble. */
  readonly isOwn?: boolean
}

export interface Looked {
  /** Look again in so many milliseconds even when nothing changes. */
  readonly again?: number
  /** The server, or the token, is what failed. */
  readonly outage?: RunfoldError
}

/**
 * One look at one run: is the file still what was sent of it, is there more, is the lease to be looked after? Never
 * rejects: what goes wrong is the run's trouble, and is remembered and told, once.
 */
export const lookAtRun = async (
  looking: Looking,
  place: RunPlace,
  { isQuiet, isFirst = false, isOwn = false }: LookOptions,
): Promise<Looked> => {
  const { states, shipping } = looking
  const { leases, now } = shipping
  let state: RunState = { ...(states.get(place.run_id) ?? newState(place)), path: place.path }
  let file: ArchiveFile | undefined
  let checked: Pick<RunState, 'verified'> | undefined
  try {
    file = await ArchiveFile.open(place.path, state.archived ?? NO_PREFIX)
    if (!file) return await gone(looking, state)
    if (state.trouble?.stops && !isFirst && isSameFile(state, file)) return {}
    const history = await checkHistory(file, state)
    if (typeof history === 'string') {
      const archived = state.archived?.end ?? 0
      return await troubled(
        looking,
        { ...state, file: file.identity },
        rewriteTrouble(history, archived, file.end),
      )
    }
    checked = history
    const after = await shipRun(shipping, { ...state, ...history }, file, isQuiet)
    told(looking, state, after, isQuiet)
    // What was sent is remembered, whatever becomes of the lease.
    state = after
    await leases.lookAfter(place.run_id, isFinished(after))
    const due = leases.due(place.run_id)
    return due === undefined ? {} : { again: Math.max(0, due - now()) }
  } catch (error) {
    if (shipping.signal.aborted) return {}
    const epoch = leases.epoch(place.run_id)
    if (wasGivenBack(error, epoch)) {
      leases.forget(place.run_id)
      return { again: 0 }
    }
    const verdict = judge(error, state)
    if ('moved' in verdict) return { again: 0 }
    const seen = file && checked ? { ...state, ...checked, file: file.identity } : state
    if ('outage' in verdict) {
      if (isOwn) await troubled(looking, seen, troubleOfServer(verdict.outage))
      else states.put(seen)
      return verdict
    }
    await troubled(looking, seen, verdict.trouble)
    return verdict.again === undefined ? {} : { again: verdict.again }
  } finally {
    await file?.close()
  }
}

/** A folder without an archive is one that waits for it; one that had it is told of. */
const gone = async (looking: Looking, state: RunState): Promise<Looked> => {
  if (state.file === null) return {}
  if (state.trouble?.code === 'missing') return {}
  return troubled(looking, state, missingTrouble(state.archived?.end ?? 0))
}

const troubled = async (
  { states, shipping, report }: Looking,
  state: RunState,
  trouble: Trouble,
): Promise<Looked> => {
  const { run_id } = state
  states.put({ ...state, trouble })
  if (state.trouble?.code !== trouble.code || state.trouble.detail !== trouble.detail)
    report({ event: 'trouble', run_id, trouble })
  if (LEASE_IS_GONE.has(trouble.code)) shipping.leases.forget(run_id)
  // What is not sent from here must not keep others from going on with the run; a lease that cannot be given back ends by itself.
  else if (trouble.stops || NOT_FROM_HERE.has(trouble.code))
    await shipping.leases.release(run_id).catch(() => undefined)
  return {}
}

const LEASE_IS_GONE: ReadonlySet<string> = new Set(['fenced', 'not_found'])
const NOT_FROM_HERE: ReadonlySet<string> = new Set(['ahead', 'missing'])

const told = ({ states, report }: Looking, before: RunState, after: RunState, isQuiet: boolean): void => {
  const { run_id, archived, torn } = after
  const tail = archived?.end ?? 0
  const bytes = tail - (before.archived?.end ?? 0)
  const isKnown =
    before.settled && before.torn?.offset === torn?.offset && before.torn?.length === torn?.length
  states.put({ ...after, settled: isQuiet || isKnown })
  if (before.trouble) report({ event: 'mended', run_id })
  if (after.sent_at !== before.sent_at) report({ event: 'shipped', run_id, tail, bytes })
  if (isQuiet && torn && !isKnown) report({ event: 'torn', run_id, torn })
}

const isSameFile = ({ file: before }: RunState, { identity: now }: ArchiveFile): boolean =>
  before?.dev === now.dev && before.ino === now.ino
