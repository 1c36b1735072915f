import type {
  Entry,
  InferenceUsage,
  Int,
  Message,
  RecordBody,
  RunIdentity,
  RunMeta,
  RunStatus,
  ToolCall,
} from '../schema/index.ts'
import type { Raw } from './raw.ts'

// Records as the fold wants them: what it looks at is decoded, what it only carries (entries, metas, messages, usage)
// is validated and held as bytes.

/** A Region of LVR1.md 2. */
export interface HeldRegion {
  readonly name: string
  readonly kind: string
  readonly current_tokens: Int
  readonly max_tokens: Int
  readonly entries: readonly Raw<Entry>[]
  readonly description: string | null
}

/** A ContextSnapshot. */
export interface HeldWindow {
  readonly stage_name: string
  readonly total_tokens: Int
  readonly max_tokens: Int
  readonly regions: readonly HeldRegion[]
}

/** A RegionDelta: what is done to one region. */
export type HeldRegionDelta =
  | { readonly Set: HeldRegion }
  | {
      readonly Append: {
        readonly name: string
        readonly entries: readonly Raw<Entry>[]
        readonly current_tokens: Int
      }
    }
  | { readonly Clear: { readonly name: string } }
  | { readonly Remove: { readonly name: string } }

/** A ContextDelta. */
export interface HeldDelta {
  readonly stage_name: string
  readonly total_tokens: Int
  readonly max_tokens: Int
  readonly regions: readonly HeldRegionDelta[]
}

/** A record of any kind; `at` is Unix seconds. */
export type HeldRecord =
  | {
      readonly kind: 'Header'
      readonly at: null
      readonly identity: RunIdentity
      readonly meta: Raw<RunMeta>
    }
  | {
      readonly kind: 'OwnershipChanged'
      readonly at: Int
      readonly machine_id: string
      readonly world_id: string
    }
  | { readonly kind: 'Inference'; readonly at: Int; readonly inference: Raw<RecordBody<'Inference'>> }
  | { readonly kind: 'InferenceUsage'; readonly at: Int; readonly usage: Raw<InferenceUsage> }
  | {
      readonly kind: 'ToolBatch'
      readonly at: Int
      readonly stage_index: Int
      readonly iteration: Int
      readonly response: Raw<string>
      readonly calls: readonly Raw<ToolCall>[]
    }
  | {
      readonly kind: 'ToolCallDone'
      readonly at: Int
      readonly iteration: Int
      readonly call_id: string
      readonly result: Raw<string>
    }
  | { readonly kind: 'ContextCheckpoint'; readonly at: Int; readonly snapshot: HeldWindow }
  | { readonly kind: 'ContextDiff'; readonly at: Int; readonly delta: HeldDelta }
  | { readonly kind: 'Message'; readonly at: Int; readonly message: Raw<Message> }
  | { readonly kind: 'StatusChanged'; readonly at: Int; readonly status: RunStatus }
  | {
      readonly kind: 'Checkpoint'
      readonly at: Int
      readonly meta: Raw<RunMeta>
      readonly context: HeldWindow
    }
  | { readonly kind: 'Progress'; readonly at: Int; readonly meta: Raw<RunMeta>; readonly delta: HeldDelta }
