import { describe, expect, it } from 'vitest'
import { documentOf, shown } from '../../kit/session-document.ts'
import { derive, heldFiles } from '../../kit/session-files.ts'

const claude = (records: readonly object[], beside?: Record<string, string>, agent?: string) =>
  documentOf('claude-code', records, beside, agent)

const user = (content: unknown, more: object = {}) => ({ type: 'user', message: { content }, ...more })
const assistant = (message: object, more: object = {}) => ({ type: 'assistant', message, ...more })

describe('rows of Claude Code', () => {
  it('are prompts, context, summaries or results by what they hold', async () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: 'x' }
    const document = await claude([
      user('ask'),
      user('context', { isMeta: true }),
      user('summary', { isCompactSummary: true, isMeta: true }),
      user([result]),
      user([result, { type: 'text', text: 'and' }]),
      user([]),
    ])
    expect(document.messages.map(({ role, kind }) => [role, kind])).toEqual([
      ['user', 'prompt'],
      ['user', 'injected'],
      ['user', 'compaction_summary'],
      ['tool', 'tool_result'],
      ['user', 'prompt'],
      ['user', 'prompt'],
    ])
  })

  it('of an assistant are replies, notices or errors, and only real models are the session’s', async () => {
    const content = [{ type: 'text', text: 'x' }]
    const document = await claude([
      assistant({ content, model: 'm1' }),
      assistant({ content, model: 'm2' }, { isApiErrorMessage: true }),
      assistant({ content, model: '<synthetic>' }),
    ])
    expect(document.messages.map(({ kind, model }) => [kind, model])).toEqual([
      ['reply', 'm1'],
      ['error', 'm2'],
      ['notice', '<synthetic>'],
    ])
    expect(document.model).toBe('m2')
  })

  it('of the system are messages only when they say something', async () => {
    const document = await claude([
      { type: 'system', subtype: 'compact_boundary' },
      { type: 'system', subtype: 'turn_duration', content: 'x' },
      { type: 'system', content: 'hello' },
      { type: 'system', content: 'bad', level: 'error' },
      { type: 'system', subtype: 'api_error', content: 'worse' },
      { type: 'system', subtype: 'other' },
    ])
    expect(shown(document)).toEqual([
      ['compaction_boundary', '[conversation compacted]'],
      ['notice', 'hello'],
      ['error', 'bad'],
      ['error', 'worse'],
    ])
  })

  it('that waited in the queue are shown when they came', async () => {
    const queued = (attachment: object) => ({
      type: 'attachment',
      uuid: 'q',
      attachment: { type: 'queued_command', ...attachment },
    })
    const document = await claude([
      queued({ prompt: 'later' }),
      queued({ prompt: ' <x>', commandMode: 'prompt' }),
      queued({ prompt: 'run', commandMode: 'bash' }),
      { type: 'attachment', timestamp: '2026-01-01T00:00:00Z', attachment: { type: 'diagnostics' } },
    ])
    expect(shown(document)).toEqual([
      ['prompt', 'later'],
      ['injected', ' <x>'],
    ])
    expect(document.created_at).toBeUndefined()
    expect(document.messages[0]?.extra).toEqual({ 'claude-code': { attachment: 'queued_command' } })
  })

  it('of unknown types are counted, those of known ones are not', async () => {
    const document = await claude([
      { type: 'mode' },
      { type: 'tag' },
      { type: 'new' },
      {},
      { type: 'new' },
      { type: 7 },
    ])
    expect(document.unknown_records).toEqual({ new: 2, '': 2 })
    expect(document.counts).toMatchObject({ records: 6, messages: 0 })
  })
})

describe('blocks of Claude Code', () => {
  it('keep what can be shown, and refer to what is inlined', async () => {
    const source = (type: string, more: object) => ({ source: { type, ...more } })
    const document = await claude([
      user([
        { type: 'image', ...source('base64', { media_type: 'image/png', data: 'AA==' }) },
        { type: 'image', ...source('url', { url: 'data:image/gif;base64,AA==' }) },
        { type: 'image', ...source('file', { file_id: 'f1' }) },
        { type: 'document', title: 't', ...source('text', { media_type: 'text/plain', data: 'x' }) },
        { type: 'hologram' },
      ]),
      assistant({
        content: [
          { type: 'thinking', thinking: '', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'tool_use', id: 't', name: 'Bash' },
        ],
      }),
      user([
        {
          type: 'tool_result',
          tool_use_id: 't',
          is_error: 'yes',
          content: [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'odd' }],
        },
      ]),
    ])
    expect(document.messages.map(({ content }) => content)).toEqual([
      [
        { type: 'image', media_type: 'image/png', data_ref: 'base64:inline' },
        { type: 'image', media_type: 'image/gif', data_ref: 'base64:inline' },
        { type: 'image', data_ref: 'file:f1' },
        { type: 'file', media_type: 'text/plain', name: 't', data_ref: 'text:inline' },
      ],
      [
        { type: 'thinking', text: '', signature: 's' },
        { type: 'thinking', text: '', encrypted: 'd', redacted: true },
        { type: 'tool_use', id: 't', name: 'Bash', input: null },
      ],
      [
        {
          type: 'tool_result',
          tool_use_id: 't',
          content: 'a\n[image]\n[odd]',
          is_error: false,
          tool_name: 'Bash',
        },
      ],
    ])
  })

  it('of a moved output name its file, or the problem that it is not there', async () => {
    const content = '<persisted-output> saved to C:\\x\\tool-results\\a.txt...'
    const rows = [user([{ type: 'tool_result', tool_use_id: 't', content }])]
    const there = await claude(rows, { 's/tool-results/a.txt': 'long' })
    expect(there.messages[0]?.content[0]).toMatchObject({ file: { path: 's/tool-results/a.txt', bytes: 4 } })
    const missing = await claude(rows)
    expect(missing.messages[0]?.content[0]).not.toHaveProperty('file')
    expect(missing.problems).toMatchObject([
      { code: 'missing_file', path: 's/tool-results/a.txt', line: 1, offset: 0 },
    ])
  })
})

describe('a session of Claude Code', () => {
  it('is called as a person says, else as the harness does, else by its first summary', async () => {
    const titles = [
      { type: 'summary', summary: 'first' },
      { type: 'summary', summary: 'second' },
      { type: 'ai-title', aiTitle: 'ai' },
      { type: 'custom-title', customTitle: 'mine' },
      { type: 'custom-title', customTitle: '' },
    ]
    for (const [count, title] of [
      [2, 'first'],
      [3, 'ai'],
      [5, 'mine'],
    ] as const) {
      expect((await claude(titles.slice(0, count))).title).toBe(title)
    }
  })

  it('counts each response once, with its last numbers, whatever names it', async () => {
    const used = (output_tokens: number, message: object, more?: object) =>
      assistant({ ...message, usage: { output_tokens } }, more)
    const document = await claude([
      used(1, { id: 'a' }),
      used(2, {}, { requestId: 'b' }),
      used(40, { id: 'a' }),
      used(4, {}, { uuid: 'c' }),
      used(8, {}),
      used(8, {}),
    ])
    expect(document.usage).toEqual({ output_tokens: 40 + 2 + 4 + 8 + 8 })
  })

  it('lists its sub-agents, each of which has a document of its own', async () => {
    const beside = {
      's/subagents/agent-b.jsonl': '',
      's/subagents/agent-a.jsonl': `${JSON.stringify(user('go', { isSidechain: true, parentUuid: 'nowhere' }))}\n`,
      's/subagents/agent-a.meta.json': '{"agentType":"explorer","description":"d","toolUseId":"t"}',
      's/subagents/workflows/agent-c.jsonl': '',
    }
    const own = await claude([user('hi')], beside)
    expect(own.agents).toEqual([
      { id: 'a', kind: 'explorer', description: 'd', spawned_by: 't', path: 's/subagents/agent-a.jsonl' },
      { id: 'b', path: 's/subagents/agent-b.jsonl' },
    ])
    const agent = await claude([], beside, 'a')
    expect(agent).toMatchObject({ id: 's', agent: 'a', lineage: { parent: 's', spawned_by: 't' } })
    expect(agent.problems).toBeUndefined()
  })

  it('without its transcript is one without messages', async () => {
    const files = heldFiles(new Map([['s/tool-results/a.txt', { bytes: new Uint8Array(3) }]]))
    const before = await derive({ harness: 'claude-code', id: 's', files })
    const made = await derive({ harness: 'claude-code', id: 's', files }, before)
    expect(JSON.parse(new TextDecoder().decode(made.document))).toMatchObject({
      messages: [],
      problems: [{ code: 'missing_file', path: 's.jsonl' }],
    })
    expect(made.card).toMatchObject({ title: '(untitled)', message_count: 0, problem_count: 1 })
  })

  it('reports a parent that no record has, and only when the file has ended', async () => {
    const row = (uuid: string, parentUuid: string | null) => user('x', { uuid, parentUuid })
    const document = await claude([
      row('a', 'b'),
      row('b', 'gone'),
      { type: 'progress', uuid: 'c' },
      row('d', 'c'),
    ])
    expect(document.problems).toMatchObject([{ code: 'dangling_parent', line: 2, detail: 'gone' }])
  })
})
