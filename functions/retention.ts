import { endedFor, type MaintainOptions } from '#store'

const DAY_MS = 86_400_000

/** What maintenance is told of RUNFOLD_RETENTION_DAYS. */
export const retentionOf = (days: number | undefined): Pick<MaintainOptions, 'retention'> =>
  days === undefined ? {} : { retention: endedFor(days * DAY_MS) }
