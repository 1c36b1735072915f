import * as z from 'zod'
import { i64, usize } from './json.ts'
import { runId } from './name.ts'
import { inferenceUsage } from './record.ts'

/** Buckets of the series, and names of each breakdown, at most. */
export const USAGE_BUCKETS_MAX = 500
export const USAGE_NAMES_MAX = 1000

/**
 * Which records were counted: of these only the first kind that the run has, for they tell of the same calls. The
 * counters of the newest meta are all that is known of a run with neither kind of record.
 */
export const usageSource = z.enum(['InferenceUsage', 'Inference', 'meta', 'none'])

/** Exact integers of any size. Of counters in the meta nobody knows how many calls they sum up. */
const sum = z.union([z.int(), z.bigint()])
export const tokens = z.object({
  calls: usize.nullable(),
  prompt_tokens: sum,
  completion_tokens: sum,
  cached_tokens: sum,
  cache_write_tokens: sum,
})

/** A name is cut to 1 KB; null stands for what is not known, and for all names past the limit. */
const name = z.string().nullable()

export const usageAnswer = z.object({
  run_id: runId,
  source: usageSource,
  totals: tokens,
  by_model: z.array(z.object({ model: name, ...tokens.shape })),
  by_stage: z.array(z.object({ stage: name, ...tokens.shape })),
  by_kind: z.array(z.object({ kind: inferenceUsage.shape.kind.unwrap(), ...tokens.shape })),
  /** What was used from `at` on for `bucket_s` seconds, oldest first; buckets with nothing in them are left out. */
  bucket_s: usize,
  series: z.array(z.object({ at: i64, ...tokens.shape })),
})

export type UsageSource = z.infer<typeof usageSource>
export type Tokens = z.infer<typeof tokens>
export type UsageAnswer = z.infer<typeof usageAnswer>
