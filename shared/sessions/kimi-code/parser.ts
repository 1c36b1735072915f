import { flattened, movedOutput } from '../blocks.ts'
import type { Message, ToolResultBlock } from '../document.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import { picked } from '../facts.ts'
import { Fingerprints } from '../fingerprints.ts'
import type { OwnTrailer, Transcript, TranscriptParser } from '../parser.ts'
import type { SavedMap, StateWriter } from '../state.ts'
import { timeOf } from '../time.ts'
import { UsageTotal } from '../usage.ts'
import { detached, listOf, mapOf, numberOf, opaque, textOf } from '../values.ts'
import { MAIN, outputPath } from './files.ts'
import { messageOf } from './message.ts'
import { partOf } from './parts.ts'
import { kimiUsage, Step } from './step.ts'
import { ownTrailer } from './trailer.ts'

const SILENT: ReadonlySet<string> = new Set(['context.clear'])
const SILENT_KINDS = [
  'llm.',
  'permission.',
  'tools.',
  'turn.',
  'plan_mode.',
  'swarm_mode.',
  'full_compaction.',
  'goal.',
  'file_history.',
] as const

/** Held back at the end of the file: the messages of an open step. */
export class KimiCodeParser implements TranscriptParser {
  readonly #transcript: Transcript
  readonly #usage: UsageTotal
  /** System prompts that were shown. */
  readonly #prompts: Fingerprints
  #step: Step | undefined

  constructor(transcript: Transcript, saved?: SavedMap) {
    this.#transcript = transcript
    this.#usage = UsageTotal.load(saved?.list('usage') ?? [])
    this.#prompts = saved ? Fingerprints.load(saved.map('prompts')) : new Fingerprints()
    if (saved?.fields.has('step')) this.#step = Step.load(saved.map('step').fields)
  }

  take(record: ValueMap): void {
    const type = textOf(record.get('type')) ?? ''
    const at = timeOf(record.get('time') ?? record.get('created_at'))
    this.#transcript.facts.seenAt(at)
    switch (type) {
      case 'metadata':
        this.#protocol(opaque(record.get('protocol_version')))
        break
      case 'config.update':
      case 'profile.bind':
        this.#configured(record, at)
        break
      case 'context.append_message':
        this.#close()
        this.#transcript.emit(messageOf(mapOf(record.get('message')), at, this.#transcript.facts.model))
        break
      case 'context.append_loop_event':
        this.#loop(mapOf(record.get('event')), at)
        break
      case 'context.apply_compaction':
        this.#compacted(record, at)
        break
      case 'turn.cancel':
        this.#notice('[turn cancelled]', at)
        break
      case 'task.terminated':
        this.#notice(`[task ended: ${textOf(record.get('taskId')) ?? 'unknown'}]`, at)
        break
      case 'context.undo':
        this.#notice(`[context undone: ${numberOf(record.get('count'))?.text ?? '1'} turns]`, at)
        break
      case 'usage.record':
        this.#used(record)
        break
      default:
        if (!SILENT.has(type) && !SILENT_KINDS.some((kind) => type.startsWith(kind))) {
          this.#transcript.facts.unknownRecord(type)
        }
    }
  }

  save(out: StateWriter): unknown {
    return { usage: this.#usage.save(), prompts: this.#prompts.save(out), step: this.#step?.save() }
  }

  finish(): void {
    this.#close()
  }

  trailer(): Promise<OwnTrailer> {
    return ownTrailer(this.#transcript, this.#usage.value())
  }

  #protocol(version: Value | undefined): void {
    const own = typeof version === 'string' ? detached(version) : version
    if (own !== undefined) this.#transcript.facts.extra.set('protocol_version', own)
  }

  #configured(record: ValueMap, at: string | undefined): void {
    const { facts, emit } = this.#transcript
    facts.seenModel(record.get('modelAlias'))
    facts.seenExtra('profile', record.get('profileName'))
    facts.seenCwd(record.get('cwd'))
    const text = textOf(record.get('systemPrompt'))
    if (text === undefined || this.#prompts.has(text)) return
    this.#prompts.add(text)
    this.#close()
    emit({ role: 'system', kind: 'system_prompt', timestamp: at, content: [{ type: 'text', text }] })
  }

  #loop(event: ValueMap, at: string | undefined): void {
    const type = textOf(event.get('type')) ?? ''
    switch (type) {
      case 'step.begin':
        this.#close()
        this.#open(textOf(event.get('uuid')), at, event)
        break
      case 'content.part': {
        const block = partOf(mapOf(event.get('part')))
        if (block) this.#opened(event, at).add(block)
        break
      }
      case 'tool.call': {
        const id = textOf(event.get('toolCallId')) ?? ''
        const name = textOf(event.get('name')) ?? ''
        this.#transcript.tools.called(id, name)
        this.#opened(event, at).add({ type: 'tool_use', id, name, input: event.get('args') ?? null })
        break
      }
      case 'tool.result':
        this.#result(event, at)
        break
      case 'step.end':
        this.#ended(event, at)
        break
      default:
        this.#transcript.facts.unknownRecord(`loop_event/${type}`)
    }
  }

  #open(id: string | undefined, at: string | undefined, event: ValueMap): Step {
    this.#step = new Step({ id, at, model: this.#transcript.facts.model }, event)
    return this.#step
  }

  /** The open step; one whose beginning was not told begins here. */
  #opened(event: ValueMap, at: string | undefined): Step {
    return this.#step ?? this.#open(textOf(event.get('stepUuid')), at, event)
  }

  #result(event: ValueMap, at: string | undefined): void {
    const { tools, emit } = this.#transcript
    const id = textOf(event.get('toolCallId')) ?? ''
    const result = mapOf(event.get('result'))
    const output = result.get('output')
    const details = picked(result, ['note', 'truncated'])
    const block: ToolResultBlock = {
      type: 'tool_result',
      tool_use_id: id,
      content: typeof output === 'string' ? output : flattened(listOf(output)),
      is_error: result.get('isError') === true,
      tool_name: textOf(tools.of(id)),
      details: details.size === 0 ? undefined : details,
    }
    const message: Message = {
      role: 'tool',
      kind: 'tool_result',
      timestamp: at,
      content: [this.#withFile(block)],
    }
    if (this.#step) this.#step.result(message)
    else emit(message)
  }

  /** A long output stands in a file, of which the text only names the place. */
  #withFile(block: ToolResultBlock): ToolResultBlock {
    const name = movedOutput(block.content)
    if (name === undefined) return block
    const { agent = MAIN, look } = this.#transcript
    const path = outputPath(agent, name)
    const file = look.find(path)
    return file ? { ...block, file: { path, bytes: file.tail, sha256: file.digest } } : block
  }

  #ended(event: ValueMap, at: string | undefined): void {
    const usage = kimiUsage(event.get('usage'))
    if (usage) {
      this.#usage.add(usage)
      if (this.#step === undefined) this.#open(textOf(event.get('uuid')), at, event)
    }
    this.#close(event)
  }

  /** Compaction calls and the like; what is of scope `turn` repeats a step. */
  #used(record: ValueMap): void {
    const usage = kimiUsage(record.get('usage'))
    if (usage && record.get('usageScope') !== 'turn') this.#usage.add(usage)
  }

  #compacted(record: ValueMap, at: string | undefined): void {
    const { emit } = this.#transcript
    this.#close()
    const extra = picked(record, ['compactedCount'])
    const boundary = { type: 'text', text: '[conversation compacted]' } as const
    emit({ role: 'system', kind: 'compaction_boundary', timestamp: at, content: [boundary], extra })
    const text = textOf(record.get('summary'))
    if (text === undefined) return
    emit({ role: 'user', kind: 'compaction_summary', timestamp: at, content: [{ type: 'text', text }] })
  }

  #notice(text: string, at: string | undefined): void {
    this.#close()
    const { emit } = this.#transcript
    emit({ role: 'system', kind: 'notice', timestamp: at, content: [{ type: 'text', text }] })
  }

  #close(end?: ValueMap): void {
    for (const message of this.#step?.messages(end) ?? []) this.#transcript.emit(message)
    this.#step = undefined
  }
}
