import type { Harness } from '../schema/index.ts'
import { claudeCode } from './claude-code/adapter.ts'
import { codex } from './codex/adapter.ts'
import { kimiCode } from './kimi-code/adapter.ts'
import type { Adapter, TranscriptName } from './parser.ts'

/** Every harness; a new one is a folder and a line here. */
const ADAPTERS: ReadonlyMap<Harness, Adapter> = new Map(
  [claudeCode, codex, kimiCode].map((adapter) => [adapter.harness, adapter]),
)

export function adapterOf(harness: Harness): Adapter {
  const adapter = ADAPTERS.get(harness)
  if (adapter === undefined) throw new Error(`no adapter for ${harness}`)
  return adapter
}

/** The version of a harness's parser, as states, keys and entries name it. */
export function parserOf(harness: Harness): string {
  return `${harness}/${adapterOf(harness).version}`
}

/** The transcripts among the files of a session: its own first, also when that file is missing, then the sub-agents'. */
export function transcriptsOf(
  harness: Harness,
  id: string,
  paths: Iterable<string>,
): readonly TranscriptName[] {
  return adapterOf(harness).transcripts(id, paths)
}
