import * as z from 'zod'
import { f32, i64, usize } from './json.ts'
import { runMeta, runStatus } from './meta.ts'
import { contextDelta, contextSnapshot } from './window.ts'
import { maybe, omitted, wire } from './wire.ts'

// LVR1.md 2.1 and 2.2: the record kinds and their small structures. Fields stand in wire order.

export const runIdentity = z.object({
  run_id: z.string(),
  machine_id: z.string(),
  world_id: z.string(),
  created_at: i64,
})

export const message = z.object({ role: z.string(), content: z.string() })

/** `arguments` is JSON text inside a string. */
export const toolCall = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  result: maybe(z.string()),
  thought_signature: omitted(z.string()),
})

const inferenceRequest = z.object({
  model: z.string(),
  system: z.array(z.string()),
  messages: z.array(message),
  tool_names: z.array(z.string()),
  temperature: f32,
  max_tokens: usize,
})

const inferenceResponse = z.object({
  content: z.string(),
  tool_calls: z.array(toolCall),
  prompt_tokens: usize,
  completion_tokens: usize,
  cached_tokens: usize,
  cache_write_tokens: usize,
})

export const inferenceUsage = z.object({
  kind: z.enum(['stage', 'compaction', 'title', 'routing']).default('stage'),
  stage: z.string(),
  iteration: usize,
  provider: z.string(),
  model: z.string(),
  prompt_tokens: usize,
  completion_tokens: usize,
  cached_tokens: usize,
  cache_write_tokens: usize,
  at: i64,
})

export const recordBodies = {
  Header: z.object({ identity: runIdentity, meta: runMeta }),
  OwnershipChanged: z.object({ machine_id: z.string(), world_id: z.string(), at: i64 }),
  Inference: z.object({
    stage: z.string(),
    iteration: usize,
    request: inferenceRequest,
    response: inferenceResponse,
    at: i64,
  }),
  InferenceUsage: inferenceUsage,
  ToolBatch: z.object({
    calls: z.array(toolCall),
    at: i64,
    stage_index: usize.default(0),
    iteration: usize.default(0),
    response: z.string().default(''),
  }),
  ToolCallDone: z.object({ iteration: usize, call_id: z.string(), result: z.string(), at: i64 }),
  ContextCheckpoint: z.object({ snapshot: contextSnapshot, at: i64 }),
  ContextDiff: z.object({ delta: contextDelta, at: i64 }),
  Message: z.object({ message, at: i64 }),
  StatusChanged: z.object({ status: runStatus, at: i64 }),
  Checkpoint: z.object({ meta: runMeta, context: contextSnapshot, at: i64 }),
  Progress: z.object({ meta: runMeta, delta: contextDelta, at: i64 }),
} as const

export type RecordKind = keyof typeof recordBodies
export const RECORD_KINDS = Object.keys(recordBodies) as readonly RecordKind[]

/** The kinds that change the context window; each is one point (LVR1.md 4.5). */
export const POINT_KINDS: ReadonlySet<RecordKind> = new Set<RecordKind>([
  'ContextCheckpoint',
  'ContextDiff',
  'Checkpoint',
  'Progress',
])

/** A record as it stands in JSON: an object whose one key is the kind. */
export const journalRecord = z.union(
  RECORD_KINDS.map((kind) => z.strictObject({ [kind]: recordBodies[kind] })) as unknown as readonly [
    z.ZodType<JournalRecord>,
  ],
)
wire.add(journalRecord, { oneKey: true })

export type RecordBody<K extends RecordKind> = z.infer<(typeof recordBodies)[K]>
export type JournalRecord = { [K in RecordKind]: { readonly [key in K]: RecordBody<K> } }[RecordKind]

/** A tool batch that is journalled but not yet shown in the window (LVR1.md 4.4). */
export const pendingBatch = z.object({
  stage_index: usize,
  iteration: usize,
  response: z.string(),
  calls: z.array(toolCall),
})

export type RunIdentity = z.infer<typeof runIdentity>
export type Message = z.infer<typeof message>
export type ToolCall = z.infer<typeof toolCall>
export type InferenceUsage = z.infer<typeof inferenceUsage>
export type PendingBatch = z.infer<typeof pendingBatch>
