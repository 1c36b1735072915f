import * as z from 'zod'
import { HARNESSES, type RunKey, type SessionKey } from '#schema'
import type { SessionMaintainer } from '#sessions/archive'
import type { Maintainer } from '#store'
import type { Log } from '../api/log.ts'
import type { Tally } from '../measures.ts'

const runKey = z.object({ tenant: z.string(), run_id: z.string() })
const visitEvent = z.object({ visit: runKey })
const roundEvent = z.object({ round: z.object({ after: runKey.optional() }) })
const sessionKey = z.object({
  tenant: z.string(),
  machine: z.string(),
  harness: z.enum(HARNESSES),
  id: z.string(),
})
const sessionsEvent = z.object({ sessions: z.object({ after: sessionKey.optional() }) })

/** What the append path sends when a run has become due. */
export const visiting = (run: RunKey): z.infer<typeof visitEvent> => ({ visit: run })

/** What begins a slow round, or goes on with it. */
const goingOn = (after: RunKey): z.infer<typeof roundEvent> => ({ round: { after } })
/** The round of sessions follows that of runs. */
const goingOnWithSessions = (after?: SessionKey): z.infer<typeof sessionsEvent> => ({
  sessions: after ? { after } : {},
})

export interface MaintenanceOptions {
  readonly runs: Maintainer
  readonly sessions: SessionMaintainer
  /** Has this function run once more, on another event. */
  readonly again: (event: object) => Promise<void>
  readonly tally: Tally
  readonly log: Pick<Log, 'warn'>
}

interface Time {
  getRemainingTimeInMillis(): number
}

/** The longest look at one run; nothing is begun that might not be ended. What is killed all the same is done again. */
const VISIT_MS = 180_000

/**
 * Answers the events of the function: `{ visit }` from the append path, `{ round }` once a day, and whatever else is the
 * schedule's. All of it may happen twice, or twice at once. What it throws has the platform send the event again, and in
 * the end put it where somebody sees it.
 */
export function createMaintenance({ runs, sessions, again, tally, log }: MaintenanceOptions) {
  const tell = (cause: unknown) => {
    tally('MaintenanceFailures', 1)
    log.warn('maintenance failed; it is tried again', cause)
  }
  /** What has called for the next piece must not be sent again: that would call for it once more, and so on. */
  const tellAll = (failures: readonly unknown[]) => {
    if (failures.length > 0) tell(several(failures))
  }
  const round = async (after: RunKey | undefined, isOver: () => boolean) => {
    const result = await runs.round(after, isOver)
    await again(result.after ? goingOn(result.after) : goingOnWithSessions())
    tellAll(result.failures)
  }
  const roundOfSessions = async (after: SessionKey | undefined, isOver: () => boolean) => {
    const result = await sessions.round(after, isOver)
    if (result.after) await again(goingOnWithSessions(result.after))
    tellAll(result.failures)
  }
  const passes = async (isOver: () => boolean) => {
    const failures: unknown[] = []
    for (const maintainer of [runs, sessions]) {
      await maintainer.pass(isOver).catch((error) => failures.push(error))
    }
    if (failures.length > 0) throw several(failures)
  }
  const answer = async (event: unknown, isOver: () => boolean) => {
    const visit = visitEvent.safeParse(event)
    if (visit.success) return runs.visit(visit.data.visit)
    const asked = roundEvent.safeParse(event)
    if (asked.success) return round(asked.data.round.after, isOver)
    const others = sessionsEvent.safeParse(event)
    return others.success ? roundOfSessions(others.data.sessions.after, isOver) : passes(isOver)
  }

  return async (event: unknown, time: Time): Promise<void> => {
    const least = Math.min(VISIT_MS, time.getRemainingTimeInMillis() / 2)
    try {
      await answer(event, () => time.getRemainingTimeInMillis() < least)
    } catch (error) {
      tell(error)
      throw error
    }
  }
}

const several = (failures: readonly unknown[]) =>
  new AggregateError(failures, `failed in ${failures.length} places`)
