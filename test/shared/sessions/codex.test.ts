import { describe, expect, it } from 'vitest'
import { documentOf, shown } from '../../kit/session-document.ts'
import { derive, heldFiles } from '../../kit/session-files.ts'

const codex = (...records: readonly object[]) => documentOf('codex', records)

const record = (type: string, payload: object, timestamp = '2026-11-03T10:00:00.000Z') => ({
  timestamp,
  type,
  payload,
})
const event = (type: string, more: object = {}) => record('event_msg', { type, ...more })
const item = (type: string, more: object) => record('response_item', { type, ...more })
const text = (role: string, said: string) =>
  item('message', { role, content: [{ type: 'input_text', text: said }] })
const turn = (model: string) => record('turn_context', { model, cwd: '/w' })
const usage = (input_tokens: number, cached = 0) => ({ input_tokens, cached_input_tokens: cached })
const tokens = (total?: object, last?: object) =>
  event('token_count', { info: { total_token_usage: total, last_token_usage: last } })

describe('texts that Codex may write twice', () => {
  it('are the events of a role that has any in time', async () => {
    const document = await codex(
      text('user', 'item'),
      event('user_message', { message: 'event' }),
      text('user', 'item 2'),
    )
    expect(shown(document)).toEqual([['prompt', 'event']])
  })

  it('are the items when no event has come 32 records later', async () => {
    const between = Array.from({ length: 32 }, () => event('turn_diff'))
    const late = event('user_message', { message: 'late' })
    expect(shown(await codex(text('user', 'item'), ...between, late))).toEqual([['prompt', 'item']])
    expect(shown(await codex(text('user', 'item'), ...between.slice(1), late))).toEqual([['prompt', 'late']])
  })

  it('are decided for each role alone, and context is told from prompts', async () => {
    const document = await codex(
      text('user', '# AGENTS.md instructions for x'),
      text('assistant', 'item'),
      text('developer', 'rules'),
      event('agent_message', { message: 'event', phase: 'final' }),
    )
    expect(shown(document)).toEqual([
      ['injected', '# AGENTS.md instructions for x'],
      ['injected', 'rules'],
      ['reply', 'event'],
    ])
    expect(document.messages.at(-1)?.extra).toEqual({ codex: { phase: 'final' } })
  })
})

describe('usage of Codex', () => {
  it('goes to the reply before it, else to a carrier, and repeats are ignored', async () => {
    const document = await codex(
      event('agent_message', { message: 'a' }),
      tokens(usage(10), usage(7)),
      tokens(usage(10), usage(7)),
      tokens(usage(15, 2)),
      event('user_message', { message: 'b' }),
      tokens(usage(4)),
      tokens(),
    )
    expect(document.messages.map(({ kind, usage }) => [kind, usage])).toEqual([
      ['reply', { input_tokens: 7, cache_read_tokens: 0 }],
      ['carrier', { input_tokens: 5, cache_read_tokens: 2 }],
      ['prompt', undefined],
      ['carrier', { input_tokens: 4, cache_read_tokens: 0 }],
    ])
    expect(document.usage).toEqual({ input_tokens: 16, cache_read_tokens: 2 })
  })
})

describe('items of Codex', () => {
  it('are calls with decoded arguments, and their outputs in any spelling', async () => {
    const document = await codex(
      turn('m'),
      item('function_call', { name: 'f', arguments: ' {"a":1}', call_id: 'c1', namespace: 'n' }),
      item('function_call_output', { call_id: 'c1', output: '{"output":"x","metadata":{"exit_code":2}}' }),
      item('custom_tool_call', { name: 'g', input: '"text"', call_id: 'c2' }),
      item('custom_tool_call_output', { call_id: 'c2', output: { content: 'y', success: true } }),
      item('local_shell_call', { id: 'c3', action: { type: 'exec' } }),
      item('function_call_output', {
        call_id: 'c3',
        output: [
          { type: 'input_text', text: 'z' },
          { type: 'input_image', image_url: 'u' },
        ],
      }),
      item('tool_search_output', { call_id: 'c4', tools: [1] }),
    )
    expect(document.messages.map(({ content }) => content)).toEqual([
      [{ type: 'tool_use', id: 'c1', name: 'f', namespace: 'n', input: { a: 1 } }],
      [result('c1', 'x', { is_error: true, tool_name: 'f', status: 'error', details: { exit_code: 2 } })],
      [{ type: 'tool_use', id: 'c2', name: 'g', input: '"text"' }],
      [result('c2', 'y', { tool_name: 'g' })],
      [{ type: 'tool_use', id: 'c3', name: 'local_shell', input: { type: 'exec' } }],
      [result('c3', 'z\n[image]', { tool_name: 'local_shell' }), { type: 'image', data_ref: 'u' }],
      [result('c4', '', { details: [1] })],
    ])
    expect(document.messages[0]).toMatchObject({ role: 'assistant', model: 'm' })
  })

  const result = (tool_use_id: string, content: string, more: object) => ({
    type: 'tool_result',
    tool_use_id,
    content,
    is_error: false,
    status: 'completed',
    ...more,
  })

  it('are thoughts, with their summary where it says something else', async () => {
    const parts = (...texts: string[]) => texts.map((text) => ({ type: 'x', text }))
    const document = await codex(
      item('reasoning', { id: 'r', content: parts('a', 'b'), summary: parts('c') }),
      item('reasoning', { summary: parts('d'), encrypted_content: 'e' }),
      item('reasoning', { summary: [] }),
    )
    expect(document.messages).toMatchObject([
      {
        id: 'r',
        content: [{ type: 'thinking', text: 'a\nb' }],
        extra: { codex: { reasoning_summary: 'c' } },
      },
      { content: [{ type: 'thinking', text: 'd', encrypted: 'e' }] },
    ])
    expect(document.messages).toHaveLength(2)
  })
})

describe('a session of Codex', () => {
  it('notes changes of the model, aborted turns, roll-backs, errors and compaction', async () => {
    const document = await codex(
      turn('a'),
      turn('a'),
      turn('b'),
      event('turn_aborted'),
      event('thread_rolled_back', { num_turns: 2 }),
      event('error', { message: 'bad' }),
      event('thread_name_updated', { thread_name: 'name' }),
      record('compacted', { message: 'sum' }),
    )
    expect(shown(document)).toEqual([
      ['model_change', '[model changed: a → b]'],
      ['notice', '[turn aborted: unknown]'],
      ['notice', '[thread rolled back: 2 turns]'],
      ['error', 'bad'],
      ['compaction_boundary', '[conversation compacted]'],
      ['compaction_summary', 'sum'],
    ])
    expect(document).toMatchObject({ title: 'name', model: 'b', cwd: '/w' })
  })

  it('counts what it does not know under the names it has', async () => {
    const document = await codex(
      event('exec_command_begin'),
      event('agent_reasoning_section_break'),
      event('new'),
      item('new', {}),
      item('ghost_snapshot', {}),
      record('world', {}),
      record('session_meta', { id: 'other', cwd: '/other' }),
    )
    expect(document.unknown_records).toEqual({ 'event_msg/new': 1, 'response_item/new': 1, world: 1 })
    expect(document.cwd).toBeUndefined()
  })
})

describe('a fork of Codex', () => {
  const meta = (id: string, more: object, at: string) => record('session_meta', { id, ...more }, at)
  const said = (message: string, at: string) => record('event_msg', { type: 'user_message', message }, at)
  const lines = (...records: object[]) => ({
    bytes: new TextEncoder().encode(records.map((line) => `${JSON.stringify(line)}\n`).join('')),
  })
  const T = (second: number) => `2026-11-03T10:00:0${second}.000Z`
  const fork = lines(
    meta('s', { forked_from_id: 'old' }, T(1)),
    meta('old', {}, T(1)),
    said('copied', T(1)),
    said('mine', T(2)),
    said('mine too', T(9)),
  )
  const files = heldFiles(new Map([['rollout-s.jsonl', fork]]))
  const from =
    (...records: object[]) =>
    async () =>
      heldFiles(new Map([['rollout-old.jsonl', lines(...records)]]))
  const lineage = async (ancestor?: () => Promise<ReturnType<typeof heldFiles>>, state?: Uint8Array) => {
    const request = { harness: 'codex', id: 's', files, ...(ancestor ? { ancestor } : {}), state } as const
    const made = await derive(request)
    return { ...made, lineage: made.card.lineage }
  }

  it('is told from its ancestor where that is archived, else by the clock', async () => {
    const byClock = await lineage()
    expect(byClock.lineage).toEqual({ forked_from: 'old', embedded_messages: 2, boundary: 'clock' })
    const old = from(meta('old', {}, T(0)), said('copied', T(0)), said('other', T(0)))
    const byParent = await lineage(old)
    expect(byParent.lineage).toEqual({ forked_from: 'old', embedded_messages: 1, boundary: 'parent' })
  })

  it('goes on from its state when the ancestor has grown, unless that shows more of it to be a copy', async () => {
    const short = [meta('old', {}, T(0)), said('copied', T(0))]
    const before = await lineage(from(...short))
    expect(before.lineage).toMatchObject({ embedded_messages: 1 })
    const other = await lineage(from(...short, said('other', T(0))), before.state)
    expect(other.lineage).toMatchObject({ embedded_messages: 1 })
    expect(other.reused.messages).toBe(3)
    const more = await lineage(from(...short, said('mine', T(0))), before.state)
    expect(more.lineage).toMatchObject({ embedded_messages: 2 })
    expect(more.reused.messages).toBe(0)
  })

  it('begins anew when its ancestor has appeared', async () => {
    const before = await lineage()
    const after = await lineage(from(meta('old', {}, T(0)), said('copied', T(0))), before.state)
    expect(after.reused.messages).toBe(0)
    expect(after.lineage).toMatchObject({ boundary: 'parent', embedded_messages: 1 })
  })

  it('of which nothing was copied says where it comes from, and no more', async () => {
    const spawn = { source: { subagent: { thread_spawn: { parent_thread_id: 'old' } } } }
    const document = await codex(meta('s', spawn, T(1)), said('go', T(2)))
    expect(document.lineage).toEqual({ parent: 'old' })
  })
})
