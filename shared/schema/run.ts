import * as z from 'zod'
import { i64, usize } from './json.ts'
import { lease } from './lease.ts'
import { runStatus } from './meta.ts'
import { digest, givenTime, queryFlag, queryInt, runId, serverTime, size } from './name.ts'

/** What a listing shows of a run; null where no readable Header has come yet. Copied values keep their exact digits. */
export const card = z.object({
  run_id: runId,
  agent_name: z.string().nullable(),
  title: z.string().nullable(),
  task: z.string().nullable(),
  status: runStatus.nullable(),
  current_stage: z.string().nullable(),
  iteration: usize.nullable(),
  model: z.string().nullable(),
  parent_run_id: z.string().nullable(),
  machine_id: z.string().nullable(),
  world_id: z.string().nullable(),
  started_at: i64.nullable(),
  updated_at: i64.nullable(),
  prompt_tokens: usize.nullable(),
  completion_tokens: usize.nullable(),
  cached_tokens: usize.nullable(),
  cache_write_tokens: usize.nullable(),
  tool_calls: usize.nullable(),
  error: z.string().nullable(),
})

export const runAnswer = card.extend({
  tail: size,
  frames: size,
  points: size,
  digest,
  epoch: size,
  lease: lease.nullable(),
  unreadable_frames: size,
  stored: z.object({ objects: size, bytes: size }),
  snapshot: z.object({ seq: size }).nullable(),
  created_at: serverTime,
  changed_at: serverTime,
})

export const LIST_LIMIT = { default: 50, max: 200 } as const
/** Rows a filter may look at for one page before the page is cut short (API.md, Runs). */
export const SCAN_BUDGET = 10_000

const spelling = (word: string) => word.toLowerCase().replaceAll(/[_-]/g, '')
const statusOf = new Map(runStatus.options.map((status) => [spelling(status), status]))

/** A comma list of statuses; case, `_` and `-` do not matter. */
export const statusList = z.string().transform((text, context) => {
  const found = text.split(',').map((word) => statusOf.get(spelling(word)))
  const unknown = found.indexOf(undefined)
  if (unknown < 0) return found as z.infer<typeof runStatus>[]
  context.addIssue({
    code: 'custom',
    message: `status ${unknown + 1} of the list is not one of ${runStatus.options.join(', ')}`,
  })
  return z.NEVER
})

export const limitOf = (limit: { default: number; max: number }) =>
  queryInt
    .refine((n) => n >= 1 && n <= limit.max, `an integer from 1 to ${limit.max}`)
    .meta({ minimum: 1, maximum: limit.max, default: limit.default })
    .default(limit.default)

export const listQuery = z.strictObject({
  status: statusList.optional(),
  agent: z.string().optional(),
  machine: z.string().optional(),
  parent: z.string().optional(),
  q: z.string().max(1000).optional(),
  since: givenTime.optional(),
  order: z.enum(['desc', 'asc']).default('desc'),
  limit: limitOf(LIST_LIMIT),
  cursor: z.string().optional(),
})

export const listAnswer = z.object({
  items: z.array(card),
  next_cursor: z.string().nullable(),
  scan_truncated: z.boolean().optional(),
  server_time: serverTime,
})

export const removeQuery = z.strictObject({ force: queryFlag.optional() })

export type Card = z.infer<typeof card>
export type RunAnswer = z.infer<typeof runAnswer>
export type ListQuery = z.infer<typeof listQuery>
export type ListAnswer = z.infer<typeof listAnswer>
