import * as z from 'zod'
import { freeJson, i64, u32, usize } from './json.ts'
import { maybe, omitted, wire } from './wire.ts'

// LVR1.md 2.4 and 2.5: RunMeta and what it holds. Fields stand in wire order.

export const runStatus = z.enum([
  'starting',
  'running',
  'waiting_input',
  'complete',
  'complete_interactive',
  'error',
  'cancelled',
  'paused',
])
export type RunStatus = z.infer<typeof runStatus>

/** A run that says one of these is over; `complete_interactive` is still live. */
export const TERMINAL_STATUSES: ReadonlySet<string> = new Set<RunStatus>(['complete', 'error', 'cancelled'])

const count = usize.default(0)
const texts = z.array(z.string()).default([])

export const runFlags = z.object({
  modified_files: texts,
  modified_file_count: count,
  empty_output: z.boolean().default(false),
  no_output_tools: z.boolean().default(false),
  searches_run: count,
  searches_empty: count,
  max_iterations_hit: count,
  gates_forced: count,
  required_regions_abandoned: texts,
  workspace_lost: z.boolean().default(false),
  produced_output: z.boolean().default(false),
  output_forced: count,
  splits_degraded: count,
})

export const waitReason = z.discriminatedUnion('reason', [
  z.object({ reason: z.literal('tool_approval') }),
  z.object({ reason: z.literal('user_prompt') }),
  z.object({ reason: z.literal('taint_gate') }),
  z.object({ reason: z.literal('interaction_point') }),
  z.object({ reason: z.literal('fan_out_workers'), outstanding: usize }),
  z.object({ reason: z.literal('children'), outstanding: usize }),
  z.object({
    reason: z.literal('needs_setup'),
    blocker: z.enum([
      'provider_missing',
      'credits_exhausted',
      'auth_failed',
      'forbidden',
      'providers_unavailable',
    ]),
    remedy: z.string(),
  }),
])

const readPaths = z.object({ declared: usize, granted: usize })

const artifacts = z.array(z.string()).default([])
wire.add(artifacts, { omit: 'empty' })

const finalOutput = z.object({
  format: omitted(z.string()),
  stage: z.string(),
  submitted_at: i64,
  bytes: count,
  truncated: z.boolean().default(false),
  artifacts,
})

const outputRequest = z.object({
  format: omitted(z.string()),
  instructions: omitted(z.string()),
  example: omitted(z.string()),
  schema: omitted(freeJson),
  validator: omitted(z.string()),
})

const callbackSecret = maybe(z.string())
wire.add(callbackSecret, { secret: true })

export const runMeta = z.object({
  run_id: z.string(),
  agent_name: z.string(),
  agent_path: z.string(),
  task: z.string(),
  model: maybe(z.string()),
  pid: u32.default(0),
  status: runStatus,
  current_stage: z.string(),
  stage_index: usize,
  num_stages: usize,
  iteration: usize,
  prompt_tokens: usize,
  completion_tokens: usize,
  cached_tokens: count,
  cache_write_tokens: count,
  tool_calls: count,
  workdir: z.string(),
  started_at: i64,
  updated_at: i64,
  last_progress_at: maybe(i64),
  error: maybe(z.string()),
  title: maybe(z.string()),
  title_error: maybe(z.string()),
  metadata: z.record(z.string(), z.string()).default({}),
  callback_url: maybe(z.string()),
  callback_secret: callbackSecret,
  parent_run_id: maybe(z.string()),
  children: texts,
  depth: count,
  max_child_depth: count,
  flags: runFlags.prefault({}),
  yolo: z.boolean().default(false),
  read_paths: omitted(readPaths),
  final_output: omitted(finalOutput),
  waiting_on: omitted(waitReason),
  output_request: omitted(outputRequest),
  model_override: omitted(z.string()),
})

export type RunFlags = z.infer<typeof runFlags>
export type RunMeta = z.infer<typeof runMeta>
