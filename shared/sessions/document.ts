import { extendDigest } from '../codec/index.ts'
import type {
  Harness,
  JsonNumber,
  MessageKind,
  MessageRole,
  SessionGit,
  SessionLineage,
} from '../schema/index.ts'
import type { Value, ValueMap } from './exact-json.ts'
import { PrettyWriter, type Writable } from './pretty.ts'

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

export interface ThinkingBlock {
  readonly type: 'thinking'
  readonly text: string
  readonly signature?: string | undefined
  readonly encrypted?: string | undefined
  readonly redacted?: true | undefined
}

export interface ToolUseBlock {
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

export interface FileBlock {
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

/** Where a document stands that is only begun: its length so far, and its digest to go on from. */
export interface WrittenSoFar {
  readonly bytes: number
  readonly messages: number
  /** Of `extendDigest`; null before the first byte. */
  readonly hash: string | null
}

export const NOTHING_WRITTEN: WrittenSoFar = { bytes: 0, messages: 0, hash: null }

/** Letters that may wait before they are worth a chunk. Larger texts outlive their record, and so cost memory they need not. */
const CHUNK = 16_384

/** Writes one document from its beginning, or from the end of its stable messages on. */
export class DocumentWriter {
  readonly #harness: Harness
  readonly #out = new PrettyWriter()
  #bytes: number
  #messages: number
  #hash: string | null
  #digest = ''

  constructor(of: { harness: Harness; id: string; agent?: string | undefined }, from = NOTHING_WRITTEN) {
    this.#harness = of.harness
    this.#bytes = from.bytes
    this.#messages = from.messages
    this.#hash = from.hash
    if (from.bytes > 0) return
    const { harness, id, agent } = of
    this.#out.raw('{\n  ')
    this.#out.members({ schema: 1, harness, id, agent }, 0)
    this.#out.raw(',\n  "messages": [')
  }

  message(message: Message): void {
    this.#out.raw(this.#messages === 0 ? '\n    ' : ',\n    ')
    this.#out.value(messageFields(message, this.#harness), 2)
    this.#messages++
  }

  trailer(trailer: Trailer): void {
    this.#out.raw(this.#messages === 0 ? '],\n  ' : '\n  ],\n  ')
    this.#out.members(trailerFields(trailer, this.#harness), 0)
    this.#out.raw('\n}')
  }

  /** Whether what waits is worth a chunk. */
  get hasChunk(): boolean {
    return this.#out.waiting >= CHUNK
  }

  /** What has been written since the last call. */
  *take(): Generator<Uint8Array> {
    for (const chunk of this.#out.take()) {
      const extended = extendDigest(this.#hash, [chunk])
      if (extended === undefined) throw new Error('a hash state of our own cannot be read')
      this.#hash = extended.state
      this.#digest = extended.digest
      this.#bytes += chunk.length
      yield chunk
    }
  }

  /** Once everything has been taken. */
  soFar(): WrittenSoFar & { readonly digest: string } {
    return { bytes: this.#bytes, messages: this.#messages, hash: this.#hash, digest: this.#digest }
  }
}

function messageFields(message: Message, harness: Harness): Writable {
  const { id, parent_id, role, kind, timestamp, model, content, usage, extra } = message
  const blocks = content.map(blockFields)
  const used = usage && usageFields(usage)
  return {
    id,
    parent_id,
    role,
    kind,
    timestamp,
    model,
    content: blocks,
    usage: used,
    extra: bag(extra, harness),
  }
}

function blockFields(block: Block): Writable {
  switch (block.type) {
    case 'text':
      return { type: block.type, text: block.text }
    case 'thinking': {
      const { type, text, signature, encrypted, redacted } = block
      return { type, text, signature, encrypted, redacted }
    }
    case 'tool_use': {
      const { type, id, name, namespace, input } = block
      return { type, id, name, namespace, input }
    }
    case 'tool_result': {
      const { type, tool_use_id, content, is_error, tool_name, status, details, file } = block
      const named = file && { path: file.path, bytes: file.bytes, sha256: file.sha256 }
      return { type, tool_use_id, content, is_error, tool_name, status, details, file: named }
    }
    case 'image': {
      const { type, media_type, data_ref } = block
      return { type, media_type, data_ref }
    }
    case 'file': {
      const { type, media_type, name, data_ref } = block
      return { type, media_type, name, data_ref }
    }
  }
}

function usageFields(usage: Usage | Totals): { readonly [field: string]: Writable | undefined } {
  const { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, reasoning_tokens } = usage
  return { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, reasoning_tokens }
}

function trailerFields(
  trailer: Trailer,
  harness: Harness,
): { readonly [field: string]: Writable | undefined } {
  const { cwd, title, model, created_at, updated_at, git, lineage, agents, usage, counts, tail } = trailer
  return {
    cwd,
    title,
    model,
    created_at,
    updated_at,
    git: git && { branch: git.branch, commit: git.commit, remote: git.remote },
    lineage: lineage && lineageFields(lineage),
    agents: agents?.length ? agents.map(agentFields) : undefined,
    usage: usageFields(usage),
    counts: countFields(counts),
    unknown_records: trailer.unknown_records?.size ? trailer.unknown_records : undefined,
    problems: trailer.problems?.length ? trailer.problems.map(problemFields) : undefined,
    tail: tail && { offset: tail.offset, bytes: tail.bytes },
    extra: bag(trailer.extra, harness),
  }
}

function lineageFields(lineage: SessionLineage): Writable {
  const { forked_from, parent, spawned_by, embedded_messages, boundary } = lineage
  return { forked_from, parent, spawned_by, embedded_messages, boundary }
}

function agentFields({ id, kind, description, parent, spawned_by, path }: Agent): Writable {
  return { id, kind, description, parent, spawned_by, path }
}

function countFields(counts: Counts): Writable {
  const { records, messages, distinct_messages, prompts, tool_calls, bad_lines, problems } = counts
  return { records, messages, distinct_messages, prompts, tool_calls, bad_lines, problems }
}

function problemFields({ code, path, line, offset, bytes, detail }: Problem): Writable {
  return { code, path, line, offset, bytes, detail }
}

function bag(extra: ValueMap | undefined, harness: Harness): Writable | undefined {
  return extra === undefined || extra.size === 0 ? undefined : { [harness]: extra }
}
