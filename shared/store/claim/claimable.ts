import type { Head } from '../ports.ts'

// `claim_at` puts a run among those that others may carry on (RunIndex.waiting), in the order in which they came to wait:
//
//   held        the end of the lease, or earlier: an append prolongs the lease and leaves this, so that it writes no index
//   free        when the run was given back or its lease ran out, so what is given back goes to the end of the queue
//   ended       null
//
// Too early a time costs a look at the head, which alone decides, and is set right by who looked (claim.ts).

type Claimed = Pick<Head, 'ended' | 'lease' | 'claim_at'>

/** After the lease was given, prolonged or given back at `now`. */
export function claimableFrom({ ended, lease, claim_at }: Claimed, now: number): number | null {
  if (ended) return null
  if (!lease) return now
  return claim_at !== null && claim_at > now && claim_at <= lease.expires_at ? claim_at : lease.expires_at
}

/** After an append, which moves it only where the run has ended, or goes on after its end. */
export function claimableAfterAppend({ ended, lease, claim_at }: Claimed): number | null {
  return ended ? null : (claim_at ?? lease?.expires_at ?? null)
}
