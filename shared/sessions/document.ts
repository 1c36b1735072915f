import type { JsonNumber, MessageKind, MessageRole, SessionGit, SessionLineage } from '../schema/index.ts'
import type { Value, ValueMap } from './exact-json.ts'

// The canonical document of a transcript (SESSIONS.md 2): its fields in their order, written as they come.
//
//   {"schema", "harness", "id", "agent"?, "messages": [   never changes
//     message, message, …                                 grows; the held end may be replaced
//   ], "cwd"?, "title"?, … "extra"?}                      the trailer: may change at any time

export interface Message {
  readonly id?: string | undefined
  readonly parent_id?: string | undefined
  readonly role: MessageRole
  readonly kind: MessageKind
  readonly timestamp?: string | undefined
  readonly model?: string | undefined
  readonly content: readonly Block[]
  readonly usage?: Usage | undefined
  /** What only this harness knows, without the harness's name around it. */
  readonly extra?: ValueMap | undefined
}

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | ThinkingBlock
  | ToolUseBlock
  | ToolResultBlock
  | {
      readonly type: 'image'
      readonly media_type?: string | undefined
      readonly data_ref?: string | undefined
    }
  | FileBlock

interface ThinkingBlock {
  readonly type: 'thinking'
  readonly text: string
  readonly signature?: string | undefined
  readonly encrypted?: string | undefined
  readonly redacted?: true | undefined
}

interface ToolUseBlock {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly namespace?: string | undefined
  readonly input: Value
}

export interface ToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: string
  readonly is_error: boolean
  readonly tool_name?: string | undefined
  readonly status?: string | undefined
  readonly details?: Value | undefined
  /** The file of the session into which the harness moved a long output. */
  readonly file?: { readonly path: string; readonly bytes: number; readonly sha256: string } | undefined
}

interface FileBlock {
  readonly type: 'file'
  readonly media_type?: string | undefined
  readonly name?: string | undefined
  readonly data_ref?: string | undefined
}

/** Token counts with the digits the record has. */
export interface Usage {
  readonly input_tokens?: JsonNumber | undefined
  readonly output_tokens?: JsonNumber | undefined
  readonly cache_read_tokens?: JsonNumber | undefined
  readonly cache_creation_tokens?: JsonNumber | undefined
  readonly reasoning_tokens?: JsonNumber | undefined
}

export interface Agent {
  readonly id: string
  readonly kind?: string | undefined
  readonly description?: string | undefined
  readonly parent?: string | undefined
  readonly spawned_by?: string | undefined
  readonly path?: string | undefined
}

export interface Problem {
  readonly code: ProblemCode
  readonly path: string
  readonly line?: number | undefined
  readonly offset?: number | undefined
  readonly bytes?: number | undefined
  readonly detail?: string | undefined
}

export type ProblemCode =
  | 'bad_json'
  | 'not_an_object'
  | 'nul_padding'
  | 'invalid_utf8'
  | 'missing_file'
  | 'dangling_parent'

/** What stands behind the messages. */
export interface Trailer {
  readonly cwd?: string | undefined
  readonly title?: string | undefined
  readonly model?: string | undefined
  readonly created_at?: string | undefined
  readonly updated_at?: string | undefined
  readonly git?: SessionGit | undefined
  readonly lineage?: SessionLineage | undefined
  readonly agents?: readonly Agent[] | undefined
  readonly usage: Totals
  readonly counts: Counts
  readonly unknown_records?: ReadonlyMap<string, number> | undefined
  readonly problems?: readonly Problem[] | undefined
  readonly tail?: { readonly offset: number; readonly bytes: number } | undefined
  readonly extra?: ValueMap | undefined
}

export interface Totals {
  readonly input_tokens?: bigint | undefined
  readonly output_tokens?: bigint | undefined
  readonly cache_read_tokens?: bigint | undefined
  readonly cache_creation_tokens?: bigint | undefined
  readonly reasoning_tokens?: bigint | undefined
}

export interface Counts {
  readonly records: number
  readonly messages: number
  readonly distinct_messages: number
  readonly prompts: number
  readonly tool_calls: number
  readonly bad_lines: number
  readonly problems: number
}
