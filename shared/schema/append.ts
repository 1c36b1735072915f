import * as z from 'zod'
import { lease } from './lease.ts'
import { digest, queryInt, runId, serverTime, size } from './name.ts'

export const LVR1_MEDIA_TYPE = 'application/vnd.runfold.lvr1'
export const FRAME_MEDIA_TYPES = [LVR1_MEDIA_TYPE, 'application/octet-stream'] as const
export const BODY_ENCODINGS = ['gzip', 'zstd'] as const

export const appendQuery = z.strictObject({ offset: queryInt, epoch: queryInt })

export const appendAnswer = z.object({
  run_id: runId,
  offset: size,
  tail: size,
  frames: size,
  points: size,
  digest,
  epoch: size,
  lease,
  replayed: z.boolean(),
  unreadable_frames: size,
  server_time: serverTime,
})

export const badFramesReason = z.enum([
  'bad_magic',
  'unsupported_version',
  'truncated_preamble',
  'torn_frame',
  'frame_too_large',
  'missing_preamble',
  'empty_batch',
  'wrong_digest',
  'no_header',
])

export type AppendAnswer = z.infer<typeof appendAnswer>
export type BadFramesReason = z.infer<typeof badFramesReason>
