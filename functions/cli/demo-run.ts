import { encodeFrame, encodeRecord, PREAMBLE } from '#codec'
import type { ContextSnapshot, Entry, JournalRecord, RegionDelta, RunMeta, ToolCall } from '#schema'
import { demoMeta, STAGES, STARTED_AT } from './demo-meta.ts'
import { type Chance, chanceOf, proseOf } from './demo-text.ts'
import { DemoWindow, demoRegion } from './demo-window.ts'

export interface DemoOptions {
  /** The same seed gives the same run, byte for byte. */
  readonly seed: number
  /** How many records the run has; 50,000 are about 280 MB. */
  readonly records: number
  /** The longest content of an entry in UTF-16 units (default 8192); the shortest has 200. */
  readonly entryBytes?: number
}

const TOOLS = ['shell', 'read_file', 'write_file', 'search'] as const
/** Entries after which a region is compacted, or begins to slide. */
const CONVERSATION_MAX = 80
const RECENT_MAX = 12

/** The archive of a demo run in chunks, one a frame, so that any length costs one window of memory. */
export function* demoArchive(options: DemoOptions): Generator<Uint8Array> {
  yield PREAMBLE
  for (const record of demoRecords(options)) yield encodeFrame(encodeRecord(record))
}

/**
 * The journal of an agent that never was, shaped like a daemon's (LVR1.md 5.1): turns of inference, tools and progress,
 * a conversation that is compacted, a window that slides, waits, and a handoff to another machine now and then.
 */
export function* demoRecords({ seed, records, entryBytes = 8192 }: DemoOptions): Generator<JournalRecord> {
  const run = new DemoRun(seed, entryBytes)
  const turns = run.turns()
  const isLongEnough = records > 4
  for (let n = isLongEnough ? 2 : 0; n < records; n++) yield turns.next().value
  if (isLongEnough) yield* run.ending()
}

class DemoRun {
  readonly #chance: Chance
  readonly #entryBytes: number
  readonly #meta: RunMeta
  readonly #prose: (length: number) => string
  #at = STARTED_AT
  #calls = 0
  #owner = 0
  #window = new DemoWindow([])

  constructor(seed: number, entryBytes: number) {
    this.#chance = chanceOf(seed)
    this.#prose = proseOf(this.#chance)
    this.#entryBytes = Math.max(800, entryBytes)
    this.#meta = demoMeta(seed)
  }

  /** Record after record, without end. */
  *turns(): Generator<JournalRecord, never> {
    yield {
      Header: {
        identity: { ...this.#worker(), run_id: this.#meta.run_id, created_at: STARTED_AT },
        meta: this.#snapshot(),
      },
    }
    this.#window = new DemoWindow([
      demoRegion({ name: 'system', kind: 'pinned' }, [this.#entry({ taint: 'Public' })]),
      demoRegion({ name: 'task', kind: 'pinned' }, [
        this.#entry({ kind: { type: 'UserMessage' }, content: this.#meta.task }),
      ]),
      demoRegion({ name: 'conversation', kind: 'history' }, []),
      demoRegion({ name: 'recent', kind: 'sliding' }, []),
      demoRegion({ name: 'scratch', kind: 'clearable', description: 'notes that may go' }, []),
    ])
    yield this.#checkpoint()
    yield this.#status('running')
    for (;;) {
      yield* this.#turn()
      if (this.#chance.is(0.02)) yield* this.#question()
      if (this.#chance.is(0.004)) yield* this.#handoff()
    }
  }

  *ending(): Generator<JournalRecord> {
    yield this.#status('complete')
    yield this.#progress([this.#window.clear('scratch')])
  }

  *#turn(): Generator<JournalRecord> {
    const meta = this.#meta
    meta.iteration = Number(meta.iteration) + 1
    if (this.#chance.is(0.03)) this.#nextStage()
    yield this.#usage('stage')

    const response = this.#prose(this.#chance.between(40, 400))
    const calls = Array.from({ length: this.#chance.between(1, 3) }, () => this.#call())
    yield {
      ToolBatch: {
        calls,
        at: this.#now(),
        stage_index: meta.stage_index,
        iteration: meta.iteration,
        response,
      },
    }
    const results = calls.map((call) => ({ call, result: this.#prose(this.#length()) }))
    for (const { call, result } of results) {
      yield { ToolCallDone: { iteration: meta.iteration, call_id: call.id, result, at: this.#now() } }
    }
    meta.tool_calls = Number(meta.tool_calls) + calls.length

    const turn = this.#entry({
      content: response,
      kind: {
        type: 'AssistantTurn',
        tool_calls: calls.map(({ id, name, arguments: text }) => ({
          id,
          name,
          arguments: JSON.parse(text),
          thought_signature: null,
        })),
      },
    })
    const shown = results.map(({ call, result }) =>
      this.#entry({
        content: result,
        kind: {
          type: 'ToolResult',
          tool_call_id: call.id,
          tool_name: call.name,
          is_error: this.#chance.is(0.08),
        },
        taint: this.#chance.is(0.1) ? 'Private' : 'Internal',
      }),
    )
    yield this.#progress([
      this.#window.append('conversation', [turn, ...shown]),
      ...(this.#chance.is(0.5) ? [this.#window.slide('recent', shown.slice(-1), RECENT_MAX)] : []),
      ...(this.#chance.is(0.1) ? [this.#scribble()] : []),
    ])
    if (this.#window.entries('conversation').length > CONVERSATION_MAX) yield* this.#compact()
  }

  /** The older half of the conversation becomes one entry: a region written anew. */
  *#compact(): Generator<JournalRecord> {
    yield this.#usage('compaction')
    const kept = this.#window.entries('conversation').slice(-CONVERSATION_MAX / 4)
    yield this.#progress([this.#window.rewrite('conversation', [this.#entry({ key: 'summary' }), ...kept])])
  }

  *#question(): Generator<JournalRecord> {
    yield this.#status('waiting_input')
    this.#at += this.#chance.between(10, 900)
    const answer = this.#prose(this.#chance.between(200, 600))
    yield { Message: { message: { role: 'user', content: answer }, at: this.#now() } }
    yield this.#status('running')
    yield this.#progress([
      this.#window.append('conversation', [this.#entry({ content: answer, kind: { type: 'UserMessage' } })]),
    ])
  }

  /** Another machine goes on: it says so, and writes the window it starts from. */
  *#handoff(): Generator<JournalRecord> {
    this.#owner++
    yield { OwnershipChanged: { ...this.#worker(), at: this.#now() } }
    yield this.#checkpoint()
  }

  #worker() {
    const hex = (n: number) => (0xa11ce * (n + 1)).toString(16).padStart(16, '0')
    return { machine_id: hex(this.#owner), world_id: hex(this.#owner + 1000) }
  }

  #nextStage(): void {
    const next = (Number(this.#meta.stage_index) + 1) % STAGES.length
    this.#meta.stage_index = next
    this.#meta.current_stage = STAGES[next] as string
  }

  #call(): ToolCall {
    const name = this.#chance.pick(TOOLS)
    const text = JSON.stringify({
      path: `src/größe/${this.#chance.between(1, 40)}.ts`,
      query: this.#prose(30),
      limit: 100,
    })
    return { id: `call-${++this.#calls}`, name, arguments: text, result: null, thought_signature: null }
  }

  #entry(part: Partial<Entry>): Entry {
    const content = part.content ?? this.#prose(this.#length())
    const metadata = this.#chance.is(0.2)
      ? { source: 'demo', score: 0.5, lines: [1, this.#chance.between(2, 900)] }
      : null
    return {
      content,
      tokens: Math.ceil(content.length / 4),
      kind: { type: 'Text' },
      metadata,
      key: null,
      taint: 'Internal',
      ...part,
    }
  }

  /** Most texts are short; one in seven nearly fills what it may. */
  #length(): number {
    const most = this.#entryBytes
    return this.#chance.is(0.15)
      ? this.#chance.between(most * 0.6, most)
      : this.#chance.between(200, most / 4)
  }

  #scribble(): RegionDelta {
    if (this.#window.entries('scratch').length < 4) return this.#window.append('scratch', [this.#entry({})])
    return this.#window.clear('scratch')
  }

  #usage(kind: 'stage' | 'compaction'): JournalRecord {
    const { current_stage: stage, iteration } = this.#meta
    const spent = {
      prompt_tokens: this.#totals().total_tokens,
      completion_tokens: this.#chance.between(50, 900),
      cached_tokens: this.#chance.between(0, 9000),
      cache_write_tokens: 0,
    }
    for (const [name, tokens] of Object.entries(spent)) {
      const key = name as keyof typeof spent
      this.#meta[key] = Number(this.#meta[key]) + tokens
    }
    return {
      InferenceUsage: {
        kind,
        stage,
        iteration,
        provider: 'anthropic',
        model: 'claude-demo',
        ...spent,
        at: this.#now(),
      },
    }
  }

  #status(status: RunMeta['status']): JournalRecord {
    this.#meta.status = status
    return { StatusChanged: { status, at: this.#now() } }
  }

  #progress(regions: RegionDelta[]): JournalRecord {
    const meta = this.#snapshot()
    return { Progress: { meta, delta: { ...this.#totals(), regions }, at: this.#at } }
  }

  #checkpoint(): JournalRecord {
    const snapshot: ContextSnapshot = { ...this.#totals(), regions: [...this.#window.regions] }
    return { ContextCheckpoint: { snapshot, at: this.#now() } }
  }

  #totals() {
    return { stage_name: this.#meta.current_stage, total_tokens: this.#window.tokens, max_tokens: 200_000 }
  }

  #snapshot(): RunMeta {
    this.#meta.updated_at = this.#now()
    return { ...this.#meta, last_progress_at: this.#at }
  }

  #now(): number {
    this.#at += this.#chance.between(0, 3)
    return this.#at
  }
}
