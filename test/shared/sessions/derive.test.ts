import { describe, expect, it } from 'vitest'
import { deriveEntry, deriveTranscript, inputsStand, parserOf, transcriptsOf } from '#sessions'
import { STATE_BYTES_MAX } from '../../../shared/sessions/state.ts'
import { derive, type Held, heldFiles } from '../../kit/session-files.ts'

const encoder = new TextEncoder()
const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
const file = (text: string, generation = 1) => ({ bytes: encoder.encode(text), generation })

const row = (i: number) => ({
  type: i % 2 ? 'assistant' : 'user',
  uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  parentUuid: i ? `00000000-0000-4000-8000-${String(i - 1).padStart(12, '0')}` : null,
  timestamp: '2026-11-02T09:00:00.000Z',
  message: {
    id: `msg_${i >> 2}`,
    model: 'm',
    content: `row ${i}`,
    usage: { input_tokens: 1, output_tokens: i },
  },
})
const rows = (from: number, to: number) => lines(Array.from({ length: to - from }, (_, i) => row(from + i)))

function claude(transcript: ReturnType<typeof file>, beside: Held = new Map()) {
  const files = heldFiles(new Map([['s.jsonl', transcript], ...beside]))
  return { harness: 'claude-code', id: 's', files } as const
}

describe('an append costs what is new', () => {
  it('to 8,192 rows of Claude Code', async () => {
    const first = rows(0, 8192)
    const before = await derive(claude(file(first)))
    const made = await derive(claude(file(first + rows(8192, 8196))), before)
    expect(made.card.message_count).toBe(8196)
    expect(made.counters).toEqual({
      records_parsed: 4,
      raw_bytes_read: rows(8192, 8196).length,
      messages_parsed: 4,
      messages_reused: 8192,
    })
    const full = await derive(claude(file(first + rows(8192, 8196))))
    expect(Buffer.compare(made.document, full.document)).toBe(0)
  })

  it('to 4,096 messages of Kimi Code', async () => {
    const message = (i: number) => ({
      type: 'context.append_message',
      message: { role: 'user', content: [{ type: 'text', text: `message ${i}` }] },
      time: 1_793_696_400_000 + i,
    })
    const wire = (count: number) => file(lines(Array.from({ length: count }, (_, i) => message(i))))
    const kimi = (count: number) =>
      ({
        harness: 'kimi-code',
        id: 's',
        files: heldFiles(new Map([['agents/main/wire.jsonl', wire(count)]])),
      }) as const
    const before = await derive(kimi(4096))
    const made = await derive(kimi(4100), before)
    expect(made.card.message_count).toBe(4100)
    expect(made.counters.records_parsed).toBe(4)
  })

  it('to 8,192 events of Codex, whose last message then has its usage, once', async () => {
    const record = (payload: object) => ({
      timestamp: '2026-11-03T10:00:00.000Z',
      type: 'event_msg',
      payload,
    })
    const events = Array.from({ length: 8192 }, (_, i) => record({ type: 'user_message', message: `${i}` }))
    const answer = record({ type: 'agent_message', message: 'done' })
    const usage = { input_tokens: 7, output_tokens: 3 }
    const told = record({ type: 'token_count', info: { total_token_usage: usage, last_token_usage: usage } })
    const next = record({ type: 'user_message', message: 'next' })
    const codex = (...records: object[]) =>
      ({
        harness: 'codex',
        id: 's',
        files: heldFiles(new Map([['rollout-s.jsonl', file(lines(records))]])),
      }) as const
    const before = await derive(codex(...events, answer))
    expect(before).toMatchObject({ stable_messages: 8192, card: { message_count: 8193, usage: {} } })
    const made = await derive(codex(...events, answer, told, next), before)
    expect(made.counters.records_parsed).toBe(2)
    expect(made.card).toMatchObject({ message_count: 8194, usage: { input_tokens: 7n, output_tokens: 3n } })
    const { messages } = JSON.parse(new TextDecoder().decode(made.document))
    expect(messages.filter((message: object) => 'usage' in message)).toMatchObject([{ kind: 'reply', usage }])
  })

  it('to nothing is nothing but the end of the document', async () => {
    const before = await derive(claude(file(rows(0, 100))))
    const made = await derive(claude(file(rows(0, 100))), before)
    expect(made.counters).toMatchObject({ records_parsed: 0, raw_bytes_read: 0, messages_parsed: 0 })
    expect(made.sha256).toBe(before.sha256)
  })
})

describe('a state', () => {
  const transcript = file(rows(0, 10))
  const damaged = (state: Uint8Array, at: number) => state.map((byte, i) => (i === at ? byte ^ 1 : byte))

  it('that cannot be read, or is of another session, is as if there were none', async () => {
    const { state, sha256 } = await derive(claude(transcript))
    if (state === undefined) throw new Error('no state')
    const others = [
      new Uint8Array(),
      encoder.encode('{}'),
      state.subarray(0, -1),
      ...[0, 30, 100, state.length - 1].map((at) => damaged(state, at)),
    ]
    for (const other of others) {
      const made = await derive({ ...claude(transcript), state: other })
      expect(made.reused.messages).toBe(0)
      expect(made.sha256).toBe(sha256)
    }
    const files = heldFiles(new Map([['t.jsonl', transcript]]))
    expect((await derive({ harness: 'claude-code', id: 't', files, state })).reused.messages).toBe(0)
    const kimi = {
      harness: 'kimi-code',
      id: 's',
      files: heldFiles(new Map([['s.jsonl', transcript]])),
      state,
    } as const
    expect((await derive(kimi)).reused.messages).toBe(0)
  })

  it('is no longer true of another generation, nor of a file that a message named and that changed', async () => {
    const names = { type: 'tool_result', tool_use_id: 't', content: '<persisted-output> tool-results/a.txt' }
    const named = file(lines([{ type: 'user', message: { content: [names] } }]))
    const output = (text: string): Held => new Map([['s/tool-results/a.txt', file(text)]])
    const reused = async (before: Parameters<typeof claude>, after: Parameters<typeof claude>) => {
      const first = await derive(claude(...before))
      return (await derive(claude(...after), first)).reused.messages
    }
    expect(await reused([named], [named])).toBe(1)
    expect(await reused([named], [{ ...named, generation: 2 }])).toBe(0)
    expect(await reused([named], [named, output('x')])).toBe(0)
    expect(await reused([named, output('x')], [named, output('y')])).toBe(0)
    expect(await reused([named, output('x')], [named])).toBe(0)
    expect(await reused([named, output('x')], [named, output('x')])).toBe(1)
    expect(await reused([named], [named, new Map([['s/tool-results/other.txt', file('x')]])])).toBe(1)
  })

  it('over its limit is not kept, and nothing else is different', async () => {
    const title = 'x'.repeat(STATE_BYTES_MAX)
    const long = claude(file(lines([{ type: 'custom-title', customTitle: title }, row(0)])))
    const made = await derive(long)
    expect(made.state).toBeUndefined()
    expect(made.card).toMatchObject({ title, message_count: 1 })
  })
})

describe('the inputs of a derivation', () => {
  const agent: Held = new Map([
    ['s/subagents/agent-a.jsonl', file('')],
    ['s/subagents/agent-a.meta.json', file('{}')],
  ])
  const request = (held: Held) => ({ ...claude(file(rows(0, 2)), held), ancestor: async () => undefined })

  it('stand until one of them changes, appears or goes', async () => {
    const { inputs } = await derive(request(agent))
    const stand = (held: Held) => inputsStand(request(held), inputs)
    expect(await stand(agent)).toBe(true)
    expect(await stand(new Map([...agent, ['s/tool-results/x', file('')]]))).toBe(true)
    expect(await stand(new Map([...agent, ['s/subagents/agent-a.jsonl', file('{}\n')]]))).toBe(true)
    expect(await stand(new Map([...agent, ['s/subagents/agent-a.meta.json', file('{}', 2)]]))).toBe(false)
    expect(await stand(new Map([...agent, ['s/subagents/agent-b.jsonl', file('')]]))).toBe(false)
    expect(await stand(new Map())).toBe(false)
  })
})

describe('a derivation', () => {
  it('that fails leaves nothing to be kept', async () => {
    const request = claude(file(rows(0, 4)))
    const read = async function* () {
      yield encoder.encode(rows(0, 1))
      throw new Error('an extent cannot be read')
    }
    const derivation = await deriveTranscript({
      ...request,
      files: { ...request.files, read },
      ancestor: async () => undefined,
    })
    const taken = (async () => {
      for await (const _ of derivation.document);
    })()
    await expect(taken).rejects.toThrow('an extent cannot be read')
    expect(() => derivation.outcome()).toThrow()
  })

  it('names the transcripts of a session, and the parser that read them', () => {
    expect(transcriptsOf('kimi-code', 's', ['agents/b/wire.jsonl', 'state.json'])).toEqual([
      { path: 'agents/main/wire.jsonl' },
      { agent: 'b', path: 'agents/b/wire.jsonl' },
    ])
    expect(parserOf('claude-code')).toMatch(/^claude-code\/\d+$/)
  })

  it('gives an entry whose label is that of the first prompt, also when only a suffix was parsed', async () => {
    const first = file(rows(0, 2))
    const before = await derive(claude(first))
    const made = await derive(claude(file(rows(0, 4))), before)
    expect(Object.keys(deriveEntry(made))).toEqual([
      'harness',
      'id',
      'title',
      'model',
      'created_at',
      'updated_at',
      'message_count',
      'prompt_count',
      'tool_call_count',
      'problem_count',
      'usage',
      'agent_count',
      'first_message_id',
      'document',
    ])
    expect(deriveEntry(made)).toMatchObject({ title: 'row 0', first_message_id: row(0).uuid })
  })
})
