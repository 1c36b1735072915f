import type { Harness } from '#schema'
import type { Held } from './session-files.ts'

// Small sessions with much in them: what is read provisionally, held back, decided late, repeated or broken.

export interface Vector {
  readonly name: string
  readonly harness: Harness
  readonly id: string
  /** The file that grows. */
  readonly path: string
  readonly bytes: Uint8Array
  /** The other files of the session. */
  readonly beside: Held
  /** Sessions that may be its ancestor. */
  readonly others: ReadonlyMap<string, Held>
}

const encoder = new TextEncoder()
const file = (text: string) => ({ bytes: encoder.encode(text) })
const lines = (...records: (string | object)[]) =>
  records.map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('')

const row = (type: string, uuid: string, parentUuid: string | null, more: object) => ({
  type,
  uuid,
  parentUuid,
  timestamp: `2026-11-02T09:00:0${uuid.length}.5Z`,
  cwd: '/w',
  ...more,
})
const said = (id: string, output_tokens: number, content: unknown) => ({
  message: { id, model: 'm', content, usage: { input_tokens: 4, output_tokens } },
})

const claude = lines(
  '\ufeff{"type":"mode"}\r',
  row('user', 'u1', null, { message: { content: 'Ōhau 🌊\u2028x' } }),
  '',
  row(
    'assistant',
    'u22',
    'u1',
    said('r1', 2, [{ type: 'tool_use', id: 't1', name: 'Read', input: { '10': 1 } }]),
  ),
  `{"type":"user","uuid":"u333","parentUuid":"u22","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"<persisted-output> tool-results/a.txt"}]},"toolUseResult":{"n":1.0,"__proto__":9007199254740993}}`,
  '{"type":"user","uuid":"u1',
  row('assistant', 'u4444', 'nowhere', said('r1', 9, 'done')),
  '\u0000\u0000{"type":"odd","uuid":"nowhere"}\u0000',
  row('user', 'u1', null, { message: { content: 'Ōhau 🌊\u2028x' } }),
  '[1]',
  row('system', 'u55555', 'gone', { subtype: 'compact_boundary', logicalParentUuid: 'u1' }),
  '{"type":"custom-title","customTitle":"\\ud83c"}',
)

const record = (type: string, payload: object, second = 0) => ({
  timestamp: `2026-11-03T10:00:${String(second).padStart(2, '0')}.000Z`,
  type,
  payload,
})
const event = (type: string, more: object = {}) => record('event_msg', { type, ...more })
const item = (role: string, text: string) =>
  record('response_item', { type: 'message', role, content: [{ type: 'input_text', text }] })
const tokens = (total: number) =>
  event('token_count', { info: { total_token_usage: { input_tokens: total, output_tokens: total } } })
const call = { type: 'function_call', name: 'shell', arguments: '{"n":1.0}', call_id: 'c' }
const output = {
  type: 'function_call_output',
  call_id: 'c',
  output: '{"output":"x","metadata":{"exit_code":1}}',
}

const ancestor = lines(
  record('session_meta', { id: 'old', cwd: '/w' }),
  event('user_message', { message: 'first' }),
  event('agent_message', { message: 'reply' }),
  tokens(10),
)
const forked = lines(
  record('session_meta', { id: 'new', cwd: '/w', forked_from_id: 'old' }, 1),
  record('session_meta', { id: 'old', cwd: '/w' }, 1),
  event('user_message', { message: 'first' }),
  event('agent_message', { message: 'reply' }),
  tokens(10),
  tokens(10),
  event('user_message', { message: 'other way' }),
  event('agent_message', { message: 'so' }),
  tokens(25),
)
const young = lines(
  record('session_meta', { id: 'young' }),
  record('turn_context', { model: 'a' }),
  item('user', 'hello'),
  record('response_item', call),
  record('response_item', output),
  item('assistant', 'hi'),
  tokens(5),
  record('turn_context', { model: 'b' }),
  event('agent_message', { message: 'hi', phase: 'final' }),
  event('user_message', { message: 'hello', images: ['data:image/png;base64,AA=='] }),
  tokens(9),
  record('compacted', { message: 'sum', replacement_history: [] }),
)
const items = lines(
  record('session_meta', { id: 'items' }),
  item('user', '<skill> x'),
  ...Array.from({ length: 20 }, (_, i) => item('assistant', `${i}`)),
  ...Array.from({ length: 18 }, () => event('turn_diff')),
  event('user_message', { message: 'too late' }),
)

const kimiAt = (type: string, more: object, time = 1_793_696_400_000) => ({ type, ...more, time })
const loop = (event: object) => kimiAt('context.append_loop_event', { event })
const kimi = lines(
  { type: 'metadata', protocol_version: '1.4', created_at: 1_793_696_400_000 },
  kimiAt('config.update', { systemPrompt: 'be brief', modelAlias: 'k', cwd: '/w' }),
  kimiAt('context.append_message', { message: { role: 'user', content: [{ type: 'text', text: '潮?' }] } }),
  loop({ type: 'step.begin', uuid: 's1', turnId: '0', step: 1 }),
  loop({ type: 'content.part', part: { type: 'think', think: 'hm' } }),
  loop({ type: 'tool.call', toolCallId: 'b', name: 'Bash', args: { x: 1 } }),
  loop({
    type: 'tool.result',
    toolCallId: 'b',
    result: { output: 'in tool-results/b.txt', truncated: true },
  }),
  kimiAt('config.update', { systemPrompt: 'be brief', modelAlias: 'l' }),
  loop({ type: 'step.end', uuid: 's1', usage: { inputOther: 5, output: 2 }, finishReason: 'stop' }),
  kimiAt('usage.record', { usage: { inputOther: 5, output: 2 }, usageScope: 'turn' }),
  kimiAt('usage.record', { usage: { inputOther: 7 }, usageScope: 'session' }),
  loop({ type: 'content.part', stepUuid: 's2', part: { type: 'text', text: 'cut' } }),
  kimiAt('turn.cancel', {}, 1_793_696_300_000),
  loop({ type: 'odd' }),
  '{"type":"wave","n":0.0}',
)

const none = new Map<string, never>()
const codex = (id: string, text: string, others: Vector['others'] = none): Vector => ({
  name: `codex, ${id}`,
  harness: 'codex',
  id,
  path: `rollout-${id}.jsonl`,
  bytes: encoder.encode(text),
  beside: none,
  others,
})

export const vectors: readonly Vector[] = [
  {
    name: 'claude-code',
    harness: 'claude-code',
    id: 's',
    path: 's.jsonl',
    bytes: encoder.encode(claude),
    beside: new Map([
      ['s/tool-results/a.txt', file('long')],
      ['s/subagents/agent-1.jsonl', file('')],
      ['s/subagents/agent-1.meta.json', file('{"agentType":"x","toolUseId":"t1"}')],
    ]),
    others: none,
  },
  codex('young', young),
  codex('items', items),
  codex('new', forked, new Map([['old', new Map([['rollout-old.jsonl', file(ancestor)]])]])),
  { ...codex('new', forked), name: 'codex, new, its ancestor not archived' },
  {
    name: 'kimi-code',
    harness: 'kimi-code',
    id: 's',
    path: 'agents/main/wire.jsonl',
    bytes: encoder.encode(kimi),
    beside: new Map([
      ['state.json', file('{"title":"t","agents":{"main":{},"a":{"type":"sub"}}}')],
      ['agents/main/tool-results/b.txt', file('long')],
    ]),
    others: none,
  },
]
