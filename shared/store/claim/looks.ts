import type { LeaseAnswer, RunKey } from '../../schema/index.ts'
import type { Clock, RunIndex, WaitingRun } from '../ports.ts'
import { runName } from '../run-name.ts'

/** Between two looks at a tenant's waiting runs, for whoever waits. */
const LOOK_MS = 1000
/** How far such a look goes. What waits behind so many that nobody here can carry on is found when the claim comes again. */
const ROWS_OF_WAITING = 4096
/** Runs whose heads may still be held by somebody as they were before they were handed out. */
const REMEMBERED = 1024

/** One look at the waiting runs of a tenant. Many may share it. */
export interface Look {
  /** The first `limit` of them, read once for all who ask for as many. */
  first(limit: number): Promise<readonly WaitingRun[]>
  /** How many of them may be looked at. */
  readonly most: number
  /**
   * Tries to get a run whose head was read with this epoch, unless somebody in this process is trying just now or has got it
   * since: however many ask at once, they do not all go for the first.
   */
  attempt(
    run: RunKey,
    epoch: number,
    act: () => Promise<LeaseAnswer | undefined>,
  ): Promise<LeaseAnswer | undefined>
}

/** Looks at what waits, on behalf of everybody who would carry it on. */
export interface Looks {
  /** At once, and as far as there is something. */
  now(tenant: string): Look
  /** The next one that is made for those who wait: however many they are, the tenant is looked at once a second. */
  next(tenant: string): Promise<Look>
}

/** Remembers the looks that are awaited, the runs that are tried for right now, and the last few that were handed out. */
export function createLooks(index: RunIndex, clock: Clock): Looks {
  const awaited = new Map<string, Promise<Look>>()
  const trying = new Set<string>()
  const granted = new Map<string, number>()

  const lookAt = (tenant: string, most: number): Look => {
    const until = clock.now()
    const read = new Map<number, Promise<readonly WaitingRun[]>>()
    return {
      most,
      first: (limit) => {
        const rows = read.get(limit) ?? index.waiting(tenant, until, limit)
        read.set(limit, rows)
        return rows
      },
      attempt: async (run, epoch, act) => {
        const name = runName(run)
        if (trying.has(name) || (granted.get(name) ?? 0) > epoch) return undefined
        trying.add(name)
        try {
          const answer = await act()
          if (answer) remember(name, answer.epoch)
          return answer
        } finally {
          trying.delete(name)
        }
      },
    }
  }
  const remember = (name: string, epoch: number) => {
    granted.delete(name)
    granted.set(name, epoch)
    const [oldest] = granted.keys()
    if (granted.size > REMEMBERED && oldest !== undefined) granted.delete(oldest)
  }
  const later = async (tenant: string): Promise<Look> => {
    await clock.sleep(LOOK_MS)
    awaited.delete(tenant) // whoever comes from here on wants to know what happens after it came
    return lookAt(tenant, ROWS_OF_WAITING)
  }

  return {
    now: (tenant) => lookAt(tenant, Number.POSITIVE_INFINITY),
    next: (tenant) => {
      const coming = awaited.get(tenant) ?? later(tenant)
      awaited.set(tenant, coming)
      return coming
    },
  }
}
