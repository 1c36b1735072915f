// Files of a session of Kimi Code, relative to its folder: `state.json`, and a wire for every agent.

/** The agent that is the session itself. */
export const MAIN = 'main'

export const STATE = 'state.json'

const WIRE = /^agents\/([^/]+)\/wire\.jsonl$/

export function wireOf(agent: string): string {
  return `agents/${agent}/wire.jsonl`
}

export function outputPath(agent: string, name: string): string {
  return `agents/${agent}/tool-results/${name}`
}

/** The sub-agents that have a wire, sorted by their ids. */
export function agentWires(paths: Iterable<string>): { readonly agent: string; readonly path: string }[] {
  const found: { agent: string; path: string }[] = []
  for (const path of paths) {
    const agent = WIRE.exec(path)?.[1]
    if (agent !== undefined && agent !== MAIN) found.push({ agent, path })
  }
  return found.sort((a, b) => (a.agent < b.agent ? -1 : 1))
}
