import * as z from 'zod'
import { digest, requirements, runId, serverTime, size, workerId } from './name.ts'

/** Bounds of a lease in seconds; the shortest is well above clock differences. */
export const LEASE_TTL_S = { min: 5, default: 60, max: 3600 } as const
/** The longest `wait_s` of any route. */
export const WAIT_S_MAX = 20

export const ttl = z.int().min(LEASE_TTL_S.min).max(LEASE_TTL_S.max)

export const worker = z.object({ machine_id: workerId, world_id: workerId })

export const lease = worker.extend({ ttl_s: z.int(), expires_at: serverTime })

export const acquireRequest = z.strictObject({
  machine_id: workerId,
  world_id: workerId,
  ttl_s: ttl.optional(),
  force: z.boolean().optional(),
  wait_s: z.int().min(0).max(WAIT_S_MAX).optional(),
  requires: requirements.optional(),
})

export const renewRequest = z.strictObject({ epoch: size, ttl_s: ttl.optional() })

export const leaseAnswer = z.object({
  run_id: runId,
  epoch: size,
  lease,
  previous: worker.nullable(),
  tail: size,
  frames: size,
  points: size,
  digest,
  server_time: serverTime,
})

export const leaseReason = z.enum(['acquired', 'expired', 'released', 'forced'])

export const transfer = worker.extend({ epoch: size, from: serverTime, reason: leaseReason })

/** Newest first; at most `LEASE_HISTORY_MAX` entries. */
export const leaseState = z.object({ epoch: size, lease: lease.nullable(), history: z.array(transfer) })
export const LEASE_HISTORY_MAX = 100

export type Worker = z.infer<typeof worker>
export type Lease = z.infer<typeof lease>
export type AcquireRequest = z.infer<typeof acquireRequest>
export type RenewRequest = z.infer<typeof renewRequest>
export type LeaseAnswer = z.infer<typeof leaseAnswer>
export type LeaseReason = z.infer<typeof leaseReason>
export type Transfer = z.infer<typeof transfer>
export type LeaseState = z.infer<typeof leaseState>
