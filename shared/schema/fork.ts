import * as z from 'zod'
import { worker } from './lease.ts'
import { runId, size } from './name.ts'

/** A new run of the first `seq` frames of another, and who holds it. */
export const forkRequest = z.strictObject({ seq: size, run_id: runId, ...worker.shape })

export type ForkRequest = z.infer<typeof forkRequest>
