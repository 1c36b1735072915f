import type { Client } from '#client'
import { isRunfoldError, type LeaseAnswer } from '#schema'

/** What is left of a lease when it is renewed, as a divisor. */
const RENEWALS_A_LEASE = 3

/**
 * Does something under a lease and renews it meanwhile. The signal aborts with `fenced` once the run is not ours any more; a
 * server that cannot be reached is waited for, since nobody can take the run without it either.
 */
export const whileHolding = async <T>(
  client: Client,
  { run_id, epoch, lease }: LeaseAnswer,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const lost = new AbortController()
  const renew = () =>
    client.renew(run_id, { epoch }).catch((error: unknown) => {
      if (isRunfoldError(error, 'fenced', 'not_found')) lost.abort(error)
    })
  const timer = setInterval(renew, (lease.ttl_s * 1000) / RENEWALS_A_LEASE)
  try {
    return await work(AbortSignal.any([signal, lost.signal]))
  } finally {
    clearInterval(timer)
  }
}
