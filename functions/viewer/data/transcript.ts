import type { SessionGit, SessionLineage, TokenUsage } from '#schema'

// The canonical document as a reader needs it (SESSIONS.md 2). What a newer parser adds is passed by.

export interface SessionAgent {
  readonly id: string
  readonly kind?: string
  readonly description?: string
  /** The tool call that sent it out. */
  readonly spawned_by?: string
}

export interface SessionProblem {
  readonly code: string
  readonly path: string
  readonly line?: number
  readonly offset?: number
  readonly bytes?: number
  readonly detail?: string
}

/** Everything but the messages. */
export interface SessionAbout {
  readonly harness: string
  readonly id: string
  readonly agent?: string
  readonly cwd?: string
  readonly title?: string
  readonly model?: string
  readonly created_at?: string
  readonly updated_at?: string
  readonly git?: SessionGit
  readonly lineage?: SessionLineage
  readonly agents?: readonly SessionAgent[]
  readonly usage: TokenUsage
  readonly counts: { readonly messages: number; readonly prompts: number; readonly tool_calls: number }
  readonly unknown_records?: Readonly<Record<string, number>>
  readonly problems?: readonly SessionProblem[]
  readonly tail?: { readonly offset: number; readonly bytes: number }
}

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'thinking'
      readonly text: string
      readonly encrypted?: string
      readonly redacted?: boolean
    }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      /** JSON as it stands in the document. */
      readonly input: string
    }
  | {
      readonly type: 'tool_result'
      readonly tool_use_id: string
      readonly content: string
      readonly is_error: boolean
      readonly tool_name?: string
      readonly file?: { readonly path: string; readonly bytes: number }
    }
  | { readonly type: 'image'; readonly media_type?: string; readonly data_ref?: string }
  | {
      readonly type: 'file'
      readonly media_type?: string
      readonly name?: string
      readonly data_ref?: string
    }

export interface SessionMessage {
  readonly id?: string
  readonly role: string
  readonly kind: string
  readonly timestamp?: string
  readonly model?: string
  readonly content: readonly Block[]
  readonly usage?: TokenUsage
}

/** Who speaks, for people. */
export const SPEAKERS: Readonly<Record<string, string>> = {
  prompt: 'Prompt',
  reply: 'Reply',
  tool_result: 'Tool result',
  injected: 'Put in by the harness',
  system_prompt: 'System prompt',
  notice: 'Notice',
  error: 'Error',
  compaction_boundary: 'Compacted here',
  compaction_summary: 'Summary of what was compacted',
  model_change: 'Model changed',
  carrier: 'Usage only',
}

/** Kinds that are long and seldom what one looks for. */
export const FOLDED_KINDS: ReadonlySet<string> = new Set(['injected', 'system_prompt', 'compaction_summary'])
