import type { Harness, SessionLineage } from '../schema/index.ts'
import type { Agent, Block, Counts, Message, Problem, Totals, Trailer, Usage } from './document.ts'
import type { ValueMap } from './exact-json.ts'
import type { Writable } from './pretty.ts'

// The fields of a document in the order in which they are written; what has no value is left out.

type Fields = { readonly [field: string]: Writable | undefined }

export function messageFields(message: Message, harness: Harness): Writable {
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

function usageFields(usage: Usage | Totals): Fields {
  const { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, reasoning_tokens } = usage
  return { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, reasoning_tokens }
}

export function trailerFields(trailer: Trailer, harness: Harness): Fields {
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
