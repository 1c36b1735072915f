import type { Agent, Problem, Totals } from '../document.ts'
import type { ValueMap } from '../exact-json.ts'
import type { OwnTrailer, Transcript } from '../parser.ts'
import { timeOf } from '../time.ts'
import { mapOf, textOf } from '../values.ts'
import { agentWires, MAIN, STATE } from './files.ts'

/**
 * What `state.json` says of a session stands before what the wire says. It is rewritten with every turn, so nothing but the
 * trailer depends on it. A sub-agent takes its folder from there.
 */
export async function ownTrailer(transcript: Transcript, usage: Totals): Promise<OwnTrailer> {
  const { id, agent, facts, look } = transcript
  const read = await look.description(STATE)
  const problems: Problem[] = read === null ? [{ code: 'bad_json', path: STATE }] : []
  const state = read ?? NO_STATE
  const cwd = textOf(state.get('cwd')) ?? textOf(state.get('workDir')) ?? facts.cwd
  if (agent !== undefined) return { usage, problems, cwd, lineage: { parent: id } }
  const wires = agentWires(look.paths)
  look.agents(wires.map(({ path }) => path))
  return {
    usage,
    problems,
    cwd,
    title: textOf(state.get('title')),
    created_at: timeOf(state.get('createdAt')) ?? facts.createdAt,
    updated_at: later(timeOf(state.get('updatedAt')), facts.updatedAt),
    agents: agentsOf(mapOf(state.get('agents')), wires),
  }
}

const NO_STATE: ValueMap = new Map()

function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}

/** Those that the state tells of, joined with those that have a wire. */
function agentsOf(told: ValueMap, wires: readonly { agent: string; path: string }[]): Agent[] {
  const agents = new Map<string, Agent>()
  for (const [id, value] of told) {
    if (id === MAIN) continue
    const fields = mapOf(value)
    agents.set(id, { id, kind: textOf(fields.get('type')), parent: textOf(fields.get('parentAgentId')) })
  }
  for (const { agent, path } of wires) agents.set(agent, { ...agents.get(agent), id: agent, path })
  return [...agents.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}
