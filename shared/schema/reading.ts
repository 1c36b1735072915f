import * as z from 'zod'
import { i64, usize } from './json.ts'
import { WAIT_S_MAX } from './lease.ts'
import { runMeta, runStatus } from './meta.ts'
import { digest, queryFlag, queryInt, runId, size } from './name.ts'
import { inferenceUsage, journalRecord, message, pendingBatch, RECORD_KINDS, runIdentity } from './record.ts'
import { limitOf } from './run.ts'
import { contextDelta, contextSnapshot } from './window.ts'

const commaList = <const T extends readonly string[]>(words: T, what: string) =>
  z
    .string()
    .transform((text) => text.split(','))
    .refine(
      (list) => list.every((word) => words.includes(word)),
      `${what} is a comma list of ${words.join(', ')}`,
    )
    .transform((list) => list as T[number][])
    .meta({ description: `A comma list of ${words.join(', ')}` })

export const archiveQuery = z.strictObject({ redirect: queryFlag.optional() })

// Records

export const RECORDS_LIMIT = { default: 100, max: 1000 } as const

export const recordsQuery = z.strictObject({
  from: queryInt.optional(),
  to: queryInt.optional(),
  kind: commaList(RECORD_KINDS, 'kind').optional(),
  limit: limitOf(RECORDS_LIMIT),
  cursor: z.string().optional(),
  wait_s: queryInt
    .refine((s) => s <= WAIT_S_MAX, `at most ${WAIT_S_MAX}`)
    .meta({ maximum: WAIT_S_MAX })
    .optional(),
})

export const recordItem = z.object({
  seq: size,
  offset: size,
  length: size,
  kind: z.enum(RECORD_KINDS).nullable(),
  at: i64.nullable(),
  record: journalRecord.nullable(),
  unreadable: z.string().optional(),
})

export const recordsAnswer = z.object({ items: z.array(recordItem), next_cursor: z.string().nullable() })

// Fold

export const FOLD_PARTS = [
  'identity',
  'meta',
  'context',
  'messages',
  'inference_usage',
  'pending_batch',
] as const
export type FoldPart = (typeof FOLD_PARTS)[number]

export const foldQuery = z
  .strictObject({
    parts: commaList(FOLD_PARTS, 'parts').optional(),
    seq: queryInt.optional(),
    point: queryInt.optional(),
    at: z
      .string()
      .regex(/^-?(0|[1-9][0-9]{0,15})$/, 'a whole Unix second')
      .transform(Number)
      .refine(Number.isSafeInteger, 'a whole Unix second within ±9007199254740991')
      .optional(),
  })
  .refine(
    (query) => [query.seq, query.point, query.at].filter((place) => place !== undefined).length <= 1,
    'at most one of seq, point and at',
  )

export const folded = z.object({
  identity: runIdentity.optional(),
  meta: runMeta.optional(),
  context: contextSnapshot.optional(),
  messages: z.array(message).optional(),
  inference_count: size,
  tool_call_count: size,
  inference_usage: z.array(inferenceUsage).optional(),
  pending_batch: pendingBatch.nullable().optional(),
})

export const foldAnswer = z.object({
  run_id: runId,
  seq: size,
  offset: size,
  point: size.nullable(),
  folded,
})

// Points

export const POINTS_LIMIT = { default: 50, max: 200 } as const

export const pointsQuery = z
  .strictObject({
    from: queryInt.optional(),
    limit: limitOf(POINTS_LIMIT),
    order: z.enum(['asc', 'desc']).default('asc'),
    shape: z.enum(['summary', 'full', 'delta']).default('summary'),
    step: queryInt
      .refine((n) => n >= 1, 'at least 1')
      .meta({ minimum: 1 })
      .optional(),
    cursor: z.string().optional(),
  })
  .refine((query) => query.shape !== 'delta' || query.step === undefined, 'step does not go with shape delta')

const placed = z.object({ point: size, seq: size, at: i64 })

export const fullPoint = placed.extend({ meta: runMeta, context: contextSnapshot })
/** The whole window, where no delta can say it because several of its regions share a name; the delta is then incomplete. */
const instead = { context: contextSnapshot.optional() }

export const deltaPoint = placed.extend({ meta: runMeta, delta: contextDelta, ...instead })
export const summaryPoint = placed.extend({
  status: runStatus,
  iteration: usize,
  stage_name: z.string(),
  total_tokens: usize,
  max_tokens: usize,
  regions: z.array(
    z.object({ name: z.string(), kind: z.string(), current_tokens: usize, max_tokens: usize, entries: size }),
  ),
})

export const pointsAnswer = z.object({
  items: z.array(z.union([summaryPoint, fullPoint, deltaPoint])),
  next_cursor: z.string().nullable(),
})

export const diffQuery = z.strictObject({ from: queryInt, to: queryInt })
export const diffAnswer = z.object({ from: size, to: size, delta: contextDelta, ...instead })

// Verify

export const verifyQuery = z.strictObject({ from: queryInt.optional(), to: queryInt.optional() })

export const verifyAnswer = z.object({
  ok: z.boolean(),
  bytes: size,
  frames: size,
  digest,
  problems: z.array(z.object({ offset: size, length: size, code: z.string(), detail: z.string() })),
  /** Of the whole archive, where that was asked for. */
  unreadable_frames: size.optional(),
})

export type RecordItem = z.infer<typeof recordItem>
export type RecordsQuery = z.infer<typeof recordsQuery>
export type FoldQuery = z.infer<typeof foldQuery>
export type FoldAnswer = z.infer<typeof foldAnswer>
export type PointsQuery = z.infer<typeof pointsQuery>
export type FullPoint = z.infer<typeof fullPoint>
export type DeltaPoint = z.infer<typeof deltaPoint>
export type SummaryPoint = z.infer<typeof summaryPoint>
export type DiffAnswer = z.infer<typeof diffAnswer>
export type VerifyAnswer = z.infer<typeof verifyAnswer>
