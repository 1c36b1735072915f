import type { CatalogCard } from '../schema/index.ts'
import type { TranscriptRequest } from './adapter.ts'
import type { Trailer } from './document.ts'
import { given } from './given.ts'
import type { MessageTally } from './tally.ts'

/** What a catalog entry says of a document (SESSIONS.md 3). */
export function cardOf(
  { harness, id }: TranscriptRequest,
  trailer: Trailer,
  tally: MessageTally,
): CatalogCard {
  const { cwd, model, git, created_at, updated_at, usage, lineage, counts } = trailer
  return given({
    harness,
    id,
    cwd,
    title: trailer.title ?? tally.label ?? '(untitled)',
    model,
    git,
    created_at,
    updated_at,
    message_count: counts.messages,
    prompt_count: counts.prompts,
    tool_call_count: counts.tool_calls,
    problem_count: counts.problems,
    usage,
    lineage,
    agent_count: trailer.agents?.length ?? 0,
    first_message_id: tally.firstId,
  })
}
