import type { Harness } from '../schema/index.ts'
import { claudeCode } from './claude-code/adapter.ts'
import { claudeCodeHome } from './claude-code/home.ts'
import { codex } from './codex/adapter.ts'
import { codexHome } from './codex/home.ts'
import type { Home } from './home.ts'
import { kimiCode } from './kimi-code/adapter.ts'
import { kimiCodeHome } from './kimi-code/home.ts'
import { type Adapter, parserName, type TranscriptName } from './parser.ts'

/** Every harness; a new one is a folder and a line here. */
const HARNESSES = [
  { adapter: claudeCode, home: claudeCodeHome },
  { adapter: codex, home: codexHome },
  { adapter: kimiCode, home: kimiCodeHome },
] as const

const ADAPTERS: ReadonlyMap<Harness, Adapter> = new Map(
  HARNESSES.map(({ adapter }) => [adapter.harness, adapter]),
)

/** Where sessions may lie on a machine. */
export const HOMES: readonly Home[] = HARNESSES.map(({ home }) => home)

export function adapterOf(harness: Harness): Adapter {
  const adapter = ADAPTERS.get(harness)
  if (adapter === undefined) throw new Error(`no adapter for ${harness}`)
  return adapter
}

/** The version of a harness's parser, as states, keys and entries name it. */
export function parserOf(harness: Harness): string {
  return parserName(adapterOf(harness))
}

/** The transcripts among the files of a session: its own first, also when that file is missing, then the sub-agents'. */
export function transcriptsOf(
  harness: Harness,
  id: string,
  paths: Iterable<string>,
): readonly TranscriptName[] {
  return adapterOf(harness).transcripts(id, paths)
}

/**
 * When a file of a session is to be sent: what is referred to before what refers to it. Tool outputs and other sidecars 0,
 * sub-agents 1, the transcript 2, what is rewritten with every turn 3.
 */
export function sendingOrder(harness: Harness, id: string, path: string): 0 | 1 | 2 | 3 {
  const adapter = adapterOf(harness)
  const [own, ...agents] = adapter.transcripts(id, [path])
  if (path === adapter.last) return 3
  if (path === own?.path) return 2
  return agents.some((agent) => agent.path === path) ? 1 : 0
}
