import { movedOutput } from '../blocks.ts'
import type { Agent, Block, Message, ToolResultBlock } from '../document.ts'
import type { ValueMap } from '../exact-json.ts'
import type { LinePlace } from '../lines.ts'
import type { OwnTrailer, Transcript, TranscriptParser } from '../parser.ts'
import type { SavedMap, StateWriter } from '../state.ts'
import { timeOf } from '../time.ts'
import { KeyedUsage, usageOf } from '../usage.ts'
import { mapOf, textOf } from '../values.ts'
import { blocksOf } from './blocks.ts'
import { agentTranscripts, metaPath } from './files.ts'
import { extraOf, kindOf, SYNTHETIC, systemMessage } from './message.ts'
import { Parents } from './parents.ts'
import { Titles } from './titles.ts'

/** Records that say nothing of the session; their times and folders do not count either. */
const SILENT: ReadonlySet<string> = new Set([
  'mode',
  'permission-mode',
  'last-prompt',
  'progress',
  'started',
  'result',
  'queue-operation',
  'x-quota',
  'file-history-snapshot',
  'file-history-delta',
])

/** Records that give no message, but have a time and a place. */
const KNOWN: ReadonlySet<string> = new Set(['agent-name', 'tag', 'relocated', 'continued-in', 'pr-link'])

const USAGE = {
  input_tokens: 'input_tokens',
  output_tokens: 'output_tokens',
  cache_read_tokens: 'cache_read_input_tokens',
  cache_creation_tokens: 'cache_creation_input_tokens',
} as const

/** Every complete line is final: nothing is held back at the end of the file. */
export class ClaudeCodeParser implements TranscriptParser {
  readonly #transcript: Transcript
  readonly #titles: Titles
  readonly #parents: Parents
  readonly #usage: KeyedUsage

  constructor(transcript: Transcript, saved?: SavedMap) {
    this.#transcript = transcript
    this.#titles = saved ? Titles.load(saved.map('titles')) : new Titles()
    this.#parents = saved
      ? Parents.load(transcript.tally, saved.map('parents'))
      : new Parents(transcript.tally)
    this.#usage = saved ? KeyedUsage.load(saved.map('usage')) : new KeyedUsage()
  }

  take(record: ValueMap, at: LinePlace): void {
    const message = this.#messageOf(record, at)
    const uuid = textOf(record.get('uuid'))
    if (message) this.#transcript.emit(message)
    else if (uuid !== undefined) this.#parents.silent(uuid)
  }

  save(out: StateWriter): unknown {
    return { titles: this.#titles.save(), parents: this.#parents.save(out), usage: this.#usage.save(out) }
  }

  finish(): void {}

  async trailer(): Promise<OwnTrailer> {
    const { id, agent, path } = this.#transcript
    const usage = this.#usage.total.value()
    const title = this.#titles.best
    if (agent === undefined) {
      return { title, usage, agents: await this.#agents(), problems: this.#parents.dangling(path) }
    }
    const meta = await this.#transcript.look.description(metaPath(path))
    return { title, usage, lineage: { parent: id, spawned_by: textOf(meta?.get('toolUseId')) } }
  }

  #messageOf(record: ValueMap, at: LinePlace): Message | undefined {
    const type = textOf(record.get('type')) ?? ''
    if (SILENT.has(type) || this.#titles.take(record)) return undefined
    if (type === 'attachment') return this.#queued(record)
    this.#seen(record)
    if (type === 'user' || type === 'assistant') return this.#said(record, at)
    if (type === 'system') {
      const message = systemMessage(record)
      return message && this.#row(record, { ...message, extra: extraOf(record, NO_MESSAGE) }, at)
    }
    if (!KNOWN.has(type)) this.#transcript.facts.unknownRecord(type)
    return undefined
  }

  #seen(record: ValueMap): void {
    const { facts } = this.#transcript
    facts.seenAt(timeOf(record.get('timestamp')))
    facts.seenCwd(record.get('cwd'))
    facts.seenBranch(record.get('gitBranch'))
    facts.seenExtra('version', record.get('version'))
  }

  #said(record: ValueMap, at: LinePlace): Message {
    const message = mapOf(record.get('message'))
    const model = record.get('type') === 'assistant' ? textOf(message.get('model')) : undefined
    if (model !== SYNTHETIC) this.#transcript.facts.seenModel(model)
    const blocks = blocksOf(message.get('content'), this.#transcript.tools)
    const content = blocks.map((block) => (block.type === 'tool_result' ? this.#withFile(block, at) : block))
    const usage = usageOf(mapOf(message.get('usage')), USAGE)
    if (usage) this.#usage.set(responseOf(record, message, at), usage)
    const extra = extraOf(record, message)
    return this.#row(record, { ...kindOf(record, model, blocks), model, content, usage, extra }, at)
  }

  /** A prompt that waited for its turn. */
  #queued(record: ValueMap): Message | undefined {
    const attachment = mapOf(record.get('attachment'))
    const text = textOf(attachment.get('prompt'))
    const mode = attachment.get('commandMode')
    const isPrompt = mode === undefined || mode === null || mode === 'prompt'
    if (attachment.get('type') !== 'queued_command' || text === undefined || !isPrompt) return undefined
    this.#seen(record)
    const kind = text.trimStart().startsWith('<') ? 'injected' : 'prompt'
    const content: Block[] = [{ type: 'text', text }]
    return placed(record, { role: 'user', kind, content, extra: new Map([['attachment', 'queued_command']]) })
  }

  #row(record: ValueMap, message: Message, at: LinePlace): Message {
    if (this.#transcript.agent === undefined) {
      const before = ['parentUuid', 'logicalParentUuid'].map((name) => textOf(record.get(name)))
      this.#parents.named(before, at)
    }
    return placed(record, message)
  }

  /** A long output stands in a file, of which the text only names the place. */
  #withFile(block: ToolResultBlock, { line, offset, bytes }: LinePlace): Block {
    if (!block.content.startsWith('<persisted-output>')) return block
    const name = movedOutput(block.content)
    if (name === undefined) return block
    const { id, look, problems } = this.#transcript
    const path = `${id}/tool-results/${name}`
    const file = look.find(path)
    if (file) return { ...block, file: { path, bytes: file.tail, sha256: file.digest } }
    problems.add({ code: 'missing_file', path, line, offset, bytes })
    return block
  }

  async #agents(): Promise<Agent[]> {
    const { id, look } = this.#transcript
    const transcripts = agentTranscripts(id, look.paths)
    look.agents(transcripts.map(({ path }) => path))
    const agents: Agent[] = []
    for (const { agent, path } of transcripts) {
      const meta = await look.description(metaPath(path))
      const [kind, description, spawned_by] = ['agentType', 'description', 'toolUseId'].map((name) =>
        textOf(meta?.get(name)),
      )
      agents.push({ id: agent, kind, description, spawned_by, path })
    }
    return agents
  }
}

const NO_MESSAGE: ValueMap = new Map()

function placed(record: ValueMap, message: Message): Message {
  return {
    ...message,
    id: textOf(record.get('uuid')),
    parent_id: textOf(record.get('parentUuid')),
    timestamp: timeOf(record.get('timestamp')),
  }
}

/** Rows of one response repeat its id; without one they are told apart as well as may be (SESSIONS.md 7). */
function responseOf(record: ValueMap, message: ValueMap, { line }: LinePlace): string {
  const names = [message.get('id'), record.get('requestId'), record.get('uuid')]
  return names.map(textOf).find((name) => name !== undefined) ?? `line ${line}`
}
