import * as z from 'zod'
import type { ProblemCode } from './errors.ts'
import { PROBLEMS } from './errors.ts'

export const FEATURES = ['uploads', 'events', 'fork', 'claims', 'usage', 'sessions'] as const
export type Feature = (typeof FEATURES)[number]

export const healthAnswer = z.object({ status: z.literal('ok') })

export const capabilities = z.object({
  version: z.string(),
  format_versions: z.array(z.int()),
  limits: z.object({
    max_batch_bytes: z.int(),
    max_frame_bytes: z.int(),
    lease_ttl_s: z.object({ min: z.int(), default: z.int(), max: z.int() }),
    page_max: z.int(),
  }),
  features: z.array(z.enum(FEATURES)),
})

const codes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]

/** RFC 9457; every code adds its own facts (API.md, Problems). */
export const problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(codes),
  request_id: z.string(),
})

export type Capabilities = z.infer<typeof capabilities>
export type Problem = z.infer<typeof problem>
