// Files of a session of Claude Code: `<sid>.jsonl`, and under `<sid>/` what its tools and sub-agents wrote.

export interface AgentTranscript {
  readonly agent: string
  readonly path: string
}

const NAME = /^agent-([^/]+)\.jsonl$/

/**
 * Those of the sub-agents, sorted by their ids: `<sid>/subagents/agent-<agent>.jsonl`. What lies deeper is stored, not mapped.
 */
export function agentTranscripts(id: string, paths: Iterable<string>): AgentTranscript[] {
  const folder = `${id}/subagents/`
  const found: AgentTranscript[] = []
  for (const path of paths) {
    const agent = path.startsWith(folder) ? NAME.exec(path.slice(folder.length))?.[1] : undefined
    if (agent !== undefined) found.push({ agent, path })
  }
  return found.sort((a, b) => (a.agent < b.agent ? -1 : 1))
}

/** What the harness says of a sub-agent: {agentType, description, toolUseId}. */
export function metaPath(transcript: string): string {
  return transcript.replace(/\.jsonl$/, '.meta.json')
}
