import * as z from 'zod'
import { freeJson, usize } from './json.ts'
import { omitted, wire } from './wire.ts'

// LVR1.md 2.3: the context window. Fields stand in wire order.

/** A call inside an AssistantTurn; `arguments` is free JSON here and text in a ToolCall. */
export const entryCall = z.object({
  id: z.string(),
  name: z.string(),
  arguments: freeJson,
  thought_signature: omitted(z.string()),
})

export const entryKind = z.discriminatedUnion('type', [
  z.object({ type: z.literal('Text') }),
  z.object({ type: z.literal('UserMessage') }),
  z.object({ type: z.literal('AssistantTurn'), tool_calls: z.array(entryCall) }),
  z.object({
    type: z.literal('ToolResult'),
    tool_call_id: z.string(),
    tool_name: z.string(),
    is_error: z.boolean(),
  }),
])

export const taint = z.enum(['Public', 'Internal', 'Private'])

export const entry = z.object({
  content: z.string(),
  tokens: usize,
  kind: entryKind.default({ type: 'Text' }),
  metadata: omitted(freeJson),
  key: omitted(z.string()),
  taint: taint.default('Internal'),
})

const entriesOrNone = z.array(entry).default([])
wire.add(entriesOrNone, { omit: 'empty' })

export const region = z.object({
  name: z.string(),
  kind: z.string(),
  current_tokens: usize,
  max_tokens: usize,
  entries: entriesOrNone,
  description: omitted(z.string()),
})

export const contextSnapshot = z.object({
  stage_name: z.string(),
  total_tokens: usize,
  max_tokens: usize,
  regions: z.array(region),
})

const append = z.object({ name: z.string(), entries: z.array(entry), current_tokens: usize })
const named = z.object({ name: z.string() })

export const regionDelta = z.union([
  z.strictObject({ Set: region }),
  z.strictObject({ Append: append }),
  z.strictObject({ Clear: named }),
  z.strictObject({ Remove: named }),
])
wire.add(regionDelta, { oneKey: true })

export const contextDelta = z.object({
  stage_name: z.string(),
  total_tokens: usize,
  max_tokens: usize,
  regions: z.array(regionDelta),
})

export type EntryCall = z.infer<typeof entryCall>
export type EntryKind = z.infer<typeof entryKind>
export type Entry = z.infer<typeof entry>
export type Region = z.infer<typeof region>
export type ContextSnapshot = z.infer<typeof contextSnapshot>
export type RegionDelta = z.infer<typeof regionDelta>
export type ContextDelta = z.infer<typeof contextDelta>
