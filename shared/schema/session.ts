import * as z from 'zod'
import { JsonNumber } from './json.ts'
import { digest, size } from './name.ts'
import { harness } from './session-files.ts'

// The canonical document of a session and its catalog entry (SESSIONS.md 2 and 3). Fields stand in the order in which they
// are written; what has no value is left out, never null.

export const MESSAGE_ROLES = ['system', 'user', 'assistant', 'tool'] as const

export const MESSAGE_KINDS = [
  /** What a person or a parent agent asked. */
  'prompt',
  'reply',
  'tool_result',
  /** Context put in by the harness. */
  'injected',
  'system_prompt',
  'notice',
  'error',
  'compaction_boundary',
  'compaction_summary',
  'model_change',
  /** An assistant message without content, there only for its usage. */
  'carrier',
] as const

/** A count of tokens with the digits the record has; an integer in a sum. */
const tokens = z.union([z.number(), z.bigint(), z.instanceof(JsonNumber)])

/** Which tokens a harness counts as input differs: Codex counts cached ones, the others do not (SESSIONS.md 7). */
export const tokenUsage = z.object({
  input_tokens: tokens.optional(),
  output_tokens: tokens.optional(),
  cache_read_tokens: tokens.optional(),
  cache_creation_tokens: tokens.optional(),
  reasoning_tokens: tokens.optional(),
})

export const sessionGit = z.object({
  branch: z.string().optional(),
  commit: z.string().optional(),
  remote: z.string().optional(),
})

export const sessionLineage = z.object({
  forked_from: z.string().optional(),
  parent: z.string().optional(),
  spawned_by: z.string().optional(),
  /** How many messages of a fork were copied from its ancestor. */
  embedded_messages: size.optional(),
  /** How that was found: from the ancestor's own file, or by the clock. */
  boundary: z.enum(['parent', 'clock']).optional(),
})

/** The derived part of a catalog entry; what only the server knows stands behind it (session-files.ts). */
export const catalogEntry = z.object({
  harness,
  id: z.string(),
  cwd: z.string().optional(),
  /** The document's, else the first prompt cut to 72 code points, else `(untitled)`. */
  title: z.string(),
  model: z.string().optional(),
  git: sessionGit.optional(),
  /** RFC 3339 in UTC, with milliseconds. */
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
  /** Every message of the document; the turns of a person are `prompt_count`. */
  message_count: size,
  prompt_count: size,
  tool_call_count: size,
  problem_count: size,
  usage: tokenUsage,
  lineage: sessionLineage.optional(),
  agent_count: size,
  /** Sessions that go on from one another begin with the same message. */
  first_message_id: z.string().optional(),
  document: z.object({ bytes: size, sha256: digest }),
})

export type MessageRole = (typeof MESSAGE_ROLES)[number]
export type MessageKind = (typeof MESSAGE_KINDS)[number]
export type TokenUsage = z.infer<typeof tokenUsage>
export type SessionGit = z.infer<typeof sessionGit>
export type SessionLineage = z.infer<typeof sessionLineage>
export type CatalogEntry = z.infer<typeof catalogEntry>
/** A catalog entry before its document is named. */
export type CatalogCard = Omit<CatalogEntry, 'document'>
