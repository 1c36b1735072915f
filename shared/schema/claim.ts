import * as z from 'zod'
import { WAIT_S_MAX, worker } from './lease.ts'
import { requirements } from './name.ts'

/** Who would carry a run on, and what it can do; a run is handed to it whose `requires` are all among that. */
export const claimRequest = z.strictObject({
  ...worker.shape,
  capabilities: requirements,
  wait_s: z.int().min(0).max(WAIT_S_MAX).optional(),
})

export type ClaimRequest = z.infer<typeof claimRequest>
