import { describe, expect, it } from 'vitest'
import { documentOf, shown } from '../../kit/session-document.ts'

const TIME = 1_793_696_400_000

const kimi = (records: readonly object[], beside?: Record<string, string>, agent?: string) =>
  documentOf('kimi-code', records, beside, agent)

const at = (type: string, more: object = {}, time = TIME) => ({ type, ...more, time })
const loop = (type: string, more: object = {}) =>
  at('context.append_loop_event', { event: { type, ...more } })
const said = (role: string, text: string, origin?: object) =>
  at('context.append_message', { message: { role, content: [{ type: 'text', text }], origin } })
const part = (text: string) => loop('content.part', { stepUuid: 'p', part: { type: 'text', text } })

describe('messages of Kimi Code', () => {
  it('are prompts when a person or a parent agent asked', async () => {
    const document = await kimi([
      said('user', 'a'),
      said('user', 'b', { kind: 'user' }),
      said('user', 'c', { kind: 'system_trigger', name: 'subagent' }),
      said('user', 'd', { kind: 'injection' }),
      said('alien', 'e'),
      said('assistant', 'f'),
      said('system', 'g'),
      at('turn.prompt', { input: [] }),
    ])
    expect(shown(document).map(([kind]) => kind)).toEqual([
      'prompt',
      'prompt',
      'prompt',
      'injected',
      'prompt',
      'reply',
      'notice',
    ])
    expect(document.messages[3]?.extra).toEqual({ 'kimi-code': { origin: { kind: 'injection' } } })
    expect(document.messages[1]?.extra).toBeUndefined()
  })

  it('show a system prompt once', async () => {
    const prompt = (systemPrompt: string) => at('config.update', { systemPrompt })
    const document = await kimi([
      prompt('a'),
      prompt('a'),
      prompt('b'),
      at('profile.bind', { systemPrompt: 'a' }),
    ])
    expect(shown(document)).toEqual([
      ['system_prompt', 'a'],
      ['system_prompt', 'b'],
    ])
  })
})

describe('a step of Kimi Code', () => {
  const usage = { inputOther: 5, output: 2, inputCacheRead: 1 }

  it('is one reply, and a message for each result behind it', async () => {
    const document = await kimi([
      at('config.update', { modelAlias: 'k' }),
      loop('step.begin', { uuid: 'u', turnId: '0', step: 1 }),
      loop('tool.call', { toolCallId: 'c', name: 'Bash', args: '{broken' }),
      loop('tool.result', {
        toolCallId: 'c',
        result: { output: [{ type: 'text', text: 'x' }], isError: true, note: 'n' },
      }),
      part('after'),
      loop('step.end', { uuid: 'u', usage, finishReason: 'stop' }),
    ])
    expect(document.messages).toMatchObject([
      {
        id: 'u',
        kind: 'reply',
        model: 'k',
        content: [
          { type: 'tool_use', id: 'c', name: 'Bash', input: '{broken' },
          { type: 'text', text: 'after' },
        ],
        usage: { input_tokens: 5, output_tokens: 2, cache_read_tokens: 1 },
        extra: { 'kimi-code': { turnId: '0', step: 1, finishReason: 'stop' } },
      },
      {
        kind: 'tool_result',
        content: [{ content: 'x', is_error: true, tool_name: 'Bash', details: { note: 'n' } }],
      },
    ])
  })

  it('begins with its first part when nobody said so, and is closed by what comes next', async () => {
    const closers = [
      loop('step.begin', { uuid: 'n' }),
      said('user', 'next'),
      at('config.update', { systemPrompt: 'new' }),
      at('context.apply_compaction', { summary: 's', compactedCount: 3 }),
      at('turn.cancel'),
      at('task.terminated', { taskId: 't' }),
      at('context.undo', { count: 2 }),
    ]
    for (const closer of closers) {
      const document = await kimi([part('one'), closer, part('two')])
      expect(shown(document)[0]).toEqual(['reply', 'one'])
      expect(shown(document).at(-1)).toEqual(['reply', 'two'])
    }
    expect(shown(await kimi(closers))).toEqual([
      ['prompt', 'next'],
      ['system_prompt', 'new'],
      ['compaction_boundary', '[conversation compacted]'],
      ['compaction_summary', 's'],
      ['notice', '[turn cancelled]'],
      ['notice', '[task ended: t]'],
      ['notice', '[context undone: 2 turns]'],
    ])
  })

  it('is counted once, however often it is told', async () => {
    const record = (usageScope: string) => at('usage.record', { usage, usageScope })
    const document = await kimi([part('x'), loop('step.end', { usage }), record('turn'), record('session')])
    expect(document.usage).toEqual({ input_tokens: 10, output_tokens: 4, cache_read_tokens: 2 })
  })
})

describe('a session of Kimi Code', () => {
  it('is what its state says, where that says anything', async () => {
    const state = {
      title: 't',
      workDir: '/state',
      createdAt: TIME - 1000,
      updatedAt: '2020-01-01T00:00:00Z',
      agents: { main: { type: 'main' }, b: { type: 'sub', parentAgentId: 'main' } },
    }
    const beside = { 'state.json': JSON.stringify(state), 'agents/a/wire.jsonl': '' }
    const wire = [at('config.update', { cwd: '/wire' })]
    const document = await kimi(wire, beside)
    expect(document).toMatchObject({
      title: 't',
      cwd: '/state',
      created_at: new Date(TIME - 1000).toISOString(),
      updated_at: new Date(TIME).toISOString(),
      agents: [
        { id: 'a', path: 'agents/a/wire.jsonl' },
        { id: 'b', kind: 'sub', parent: 'main' },
      ],
    })
    const agent = await kimi([], beside, 'a')
    expect(agent).toMatchObject({ agent: 'a', cwd: '/state', lineage: { parent: 's' } })
    expect(agent).not.toHaveProperty('title')
    expect(await kimi(wire)).toMatchObject({ cwd: '/wire' })
  })

  it('goes on without a state that cannot be read', async () => {
    const document = await kimi([said('user', 'a')], { 'state.json': '{"title":' })
    expect(document).toMatchObject({
      messages: [{ kind: 'prompt' }],
      problems: [{ code: 'bad_json', path: 'state.json' }],
    })
  })

  it('names the file of a moved output where there is one', async () => {
    const result = loop('tool.result', { toolCallId: 'c', result: { output: 'see tool-results/c.txt' } })
    const there = await kimi([result], { 'agents/main/tool-results/c.txt': 'long' })
    expect(there.messages[0]?.content[0]).toMatchObject({
      file: { path: 'agents/main/tool-results/c.txt', bytes: 4 },
    })
    const missing = await kimi([result])
    expect(missing.messages[0]?.content[0]).not.toHaveProperty('file')
    expect(missing.problems).toBeUndefined()
  })

  it('counts what it does not know, and only that', async () => {
    const silent = [
      'llm.x',
      'permission.x',
      'tools.x',
      'turn.x',
      'plan_mode.x',
      'swarm_mode.x',
      'goal.x',
      'file_history.x',
    ]
    const records = [...silent, 'full_compaction.x', 'context.clear', 'wave'].map((type) => at(type))
    const document = await kimi([...records, loop('odd')])
    expect(document.unknown_records).toEqual({ wave: 1, 'loop_event/odd': 1 })
  })
})
