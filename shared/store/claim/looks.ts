import type { Clock, RunIndex, WaitingRun } from '../ports.ts'

/** Between two looks at a tenant's waiting runs, for whoever waits. */
const LOOK_MS = 1000
/** How far such a look goes. What waits behind so many that nobody here can carry on is found when the claim comes again. */
const ROWS_OF_WAITING = 4096

/** One look at the waiting runs of a tenant. Many may share it. */
export interface Look {
  /** The first `limit` of them, read once for all who ask for as many. */
  first(limit: number): Promise<readonly WaitingRun[]>
  /** How many of them may be looked at. */
  readonly most: number
  /** Run ids that one who shares it was handed: the others need not try. */
  readonly taken: Set<string>
}

/** Looks at what waits, on behalf of everybody who would carry it on. */
export interface Looks {
  /** At once, and as far as there is something. */
  now(tenant: string): Look
  /** The next one that is made for those who wait: however many they are, the tenant is looked at once a second. */
  next(tenant: string): Promise<Look>
}

/** Holds nothing but the looks that are awaited right now. */
export function createLooks(index: RunIndex, clock: Clock): Looks {
  const awaited = new Map<string, Promise<Look>>()

  const lookAt = (tenant: string, most: number): Look => {
    const until = clock.now()
    const read = new Map<number, Promise<readonly WaitingRun[]>>()
    return {
      most,
      taken: new Set(),
      first: (limit) => {
        const rows = read.get(limit) ?? index.waiting(tenant, until, limit)
        read.set(limit, rows)
        return rows
      },
    }
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
