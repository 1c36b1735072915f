import { JsonNumber } from '../../schema/index.ts'
import type { Message, Usage } from '../document.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import { kept, picked } from '../facts.ts'
import type { OwnTrailer, Transcript, TranscriptParser } from '../parser.ts'
import { loadMessage } from '../saved-message.ts'
import type { SavedMap } from '../state.ts'
import { timeOf } from '../time.ts'
import { UsageTotal } from '../usage.ts'
import { mapOf, textOf } from '../values.ts'
import { eventMessage } from './events.ts'
import { Fork } from './fork.ts'
import { itemMessage, type Said, speakerOf } from './items.ts'
import { TextRule } from './text-rule.ts'
import { TokenCounts } from './token-counts.ts'

/** A record that waits until the text rule is decided. */
interface Waiting {
  readonly record: ValueMap
  /** From 1. */
  readonly number: number
  readonly copied: boolean
}

/** Held back at the end of the file: an assistant's last message without usage, and all from an undecided item on. */
export class CodexParser implements TranscriptParser {
  readonly #transcript: Transcript
  readonly #rule: TextRule
  readonly #fork: Fork
  readonly #tokens: TokenCounts
  readonly #usage: UsageTotal
  #number: number
  /** Messages that copied records gave. */
  #embedded: number
  readonly #waiting: Waiting[]
  #last: Message | undefined

  constructor(transcript: Transcript, saved?: SavedMap) {
    this.#transcript = transcript
    this.#rule = new TextRule(saved?.map('rule'))
    this.#fork = new Fork(transcript, saved?.map('fork'))
    this.#tokens = new TokenCounts(saved?.map('tokens'))
    this.#usage = UsageTotal.load(saved?.list('usage') ?? [])
    this.#number = saved?.int('number') ?? 0
    this.#embedded = saved?.int('embedded') ?? 0
    this.#waiting = (saved?.list('waiting') ?? []).map(loadWaiting)
    if (saved?.fields.has('last')) this.#last = loadMessage(saved.map('last').fields)
  }

  take(record: ValueMap): void | Promise<void> {
    this.#number++
    if (this.#number === 1) this.#begin(record)
    else if (!this.#fork.isOver)
      return this.#fork.isCopied(record).then((copied) => this.#queue(record, copied))
    this.#queue(record, false)
  }

  save(): unknown {
    return {
      rule: this.#rule.save(),
      fork: this.#fork.save(),
      tokens: this.#tokens.save(),
      usage: this.#usage.save(),
      number: this.#number,
      embedded: this.#embedded,
      waiting: this.#waiting.map(({ record, number, copied }) => [record, number, copied]),
      last: this.#last,
    }
  }

  finish(): void {
    for (const waiting of this.#waiting) this.#process(waiting)
    if (this.#last) this.#transcript.emit(this.#last)
  }

  async trailer(): Promise<OwnTrailer> {
    return { usage: this.#usage.value(), lineage: this.#fork.lineage(this.#embedded) }
  }

  close(): Promise<void> {
    return this.#fork.close()
  }

  #begin(record: ValueMap): void {
    this.#fork.begin(record)
    if (record.get('type') !== 'session_meta') return
    const { facts } = this.#transcript
    const meta = mapOf(record.get('payload'))
    const git = mapOf(meta.get('git'))
    facts.seenCwd(meta.get('cwd'))
    facts.seenBranch(git.get('branch'))
    facts.commit = kept(git.get('commit_hash'))
    facts.remote = kept(git.get('repository_url'))
    for (const name of ['cli_version', 'originator']) facts.seenExtra(name, meta.get(name))
  }

  #queue(record: ValueMap, copied: boolean): void {
    this.#rule.see(record, this.#number)
    this.#waiting.push({ record, number: this.#number, copied })
    const { heldFrom } = this.#rule
    while (this.#waiting[0] && this.#waiting[0].number < heldFrom)
      this.#process(this.#waiting.shift() as Waiting)
  }

  #process(at: Waiting): void {
    const { facts } = this.#transcript
    const payload = mapOf(at.record.get('payload'))
    facts.seenAt(timeOf(at.record.get('timestamp')))
    switch (at.record.get('type')) {
      case 'session_meta':
        break
      case 'turn_context':
        this.#turn(at, payload)
        break
      case 'event_msg':
        this.#event(at, payload)
        break
      case 'response_item':
        this.#item(at, payload)
        break
      case 'compacted':
        this.#compacted(at, payload)
        break
      default:
        facts.unknownRecord(textOf(at.record.get('type')) ?? '')
    }
  }

  #turn(at: Waiting, turn: ValueMap): void {
    const { facts } = this.#transcript
    facts.seenCwd(turn.get('cwd'))
    const before = facts.model
    facts.seenModel(turn.get('model'))
    if (before === undefined || facts.model === undefined || facts.model === before) return
    const text = `[model changed: ${before} → ${facts.model}]`
    const extra = new Map(Object.entries({ from: before, to: facts.model }))
    this.#add(at, { role: 'system', kind: 'model_change', content: [{ type: 'text', text }], extra })
  }

  #event(at: Waiting, event: ValueMap): void {
    const type = textOf(event.get('type')) ?? ''
    const { facts } = this.#transcript
    if (type === 'token_count') this.#count(at, event)
    else if (type === 'thread_name_updated') facts.title = kept(event.get('thread_name')) ?? facts.title
    else if (this.#rule.usesEvent(type)) this.#show(at, eventMessage(event), `event_msg/${type}`)
  }

  #item(at: Waiting, item: ValueMap): void {
    const speaker = speakerOf(item)
    if (speaker !== undefined && !this.#rule.usesItem(speaker, at.number)) return
    const type = textOf(item.get('type')) ?? ''
    this.#show(at, itemMessage(item, this.#transcript.tools), `response_item/${type}`)
  }

  #compacted(at: Waiting, compacted: ValueMap): void {
    const history = compacted.get('replacement_history')
    const extra = new Map<string, Value>()
    if (Array.isArray(history)) extra.set('replacement_history_len', new JsonNumber(String(history.length)))
    const boundary = { type: 'text', text: '[conversation compacted]' } as const
    this.#add(at, { role: 'system', kind: 'compaction_boundary', content: [boundary], extra })
    const text = textOf(compacted.get('message'))
    if (text === undefined) return
    this.#add(at, { role: 'user', kind: 'compaction_summary', content: [{ type: 'text', text }] })
  }

  #count(at: Waiting, event: ValueMap): void {
    const info = mapOf(event.get('info'))
    const usage = this.#tokens.take(info)
    if (usage === undefined) return
    if (!at.copied) this.#usage.add(usage)
    const limits = new Map([...picked(event, ['rate_limits']), ...picked(info, ['model_context_window'])])
    const last = this.#last
    this.#last = undefined
    if (last) this.#transcript.emit(withUsage(last, usage, limits))
    else this.#add(at, { role: 'assistant', kind: 'carrier', content: [], extra: limits }, usage)
  }

  /** Null is a type that is not known. */
  #show(at: Waiting, said: Said | undefined | null, type: string): void {
    if (said) this.#add(at, said)
    else if (said === null) this.#transcript.facts.unknownRecord(type)
  }

  #add({ record, copied }: Waiting, said: Said, usage?: Usage): void {
    const { facts, emit } = this.#transcript
    if (copied) this.#embedded++
    if (this.#last) emit(this.#last)
    this.#last = undefined
    const model = said.role === 'assistant' ? facts.model : undefined
    const message = { ...said, timestamp: timeOf(record.get('timestamp')), model, usage }
    if (said.role === 'assistant' && usage === undefined) this.#last = message
    else emit(message)
  }
}

/** What was used is told behind the message; it goes into it. */
function withUsage(message: Message, usage: Usage, limits: ValueMap): Message {
  return { ...message, usage, extra: new Map([...(message.extra ?? []), ...limits]) }
}

function loadWaiting(saved: Value): Waiting {
  const [record, number, copied] = saved as readonly [ValueMap, JsonNumber, boolean]
  return { record, number: Number(number.text), copied }
}
