import type { Site } from './site.ts'

export const SESSION = {
  harness: 'claude-code',
  id: '11111111-2222-4333-8444-555555555555',
  machine: 'laptop',
} as const

const FOLDER = `${SESSION.id}/subagents`

const row = (n: number, type: 'user' | 'assistant', content: unknown, more: object = {}) => ({
  type,
  uuid: `00000000-0000-4000-8000-00000000000${n}`,
  timestamp: `2026-11-02T09:00:0${n}.000Z`,
  cwd: '/home/me/lanternfish',
  message: {
    role: type,
    content,
    ...(type === 'assistant' && { id: `msg-${n}`, model: 'claude-demo', usage: USAGE }),
  },
  ...more,
})

const USAGE = { input_tokens: 4, output_tokens: 20, cache_read_input_tokens: 900 + 100 }

const lines = (rows: readonly object[]) =>
  new TextEncoder().encode(rows.map((one) => `${JSON.stringify(one)}\n`).join(''))

const MAIN = [
  row(1, 'user', 'Why does the tide table print <b>NaN</b>?'),
  row(2, 'assistant', [{ type: 'thinking', thinking: 'A leap-day bug, probably.', signature: 'c2ln' }]),
  row(3, 'assistant', [
    { type: 'text', text: 'I will look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'src/index.ts' } },
    { type: 'tool_use', id: 'toolu_2', name: 'Task', input: { prompt: 'find tables' } },
  ]),
  row(4, 'user', [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'no such file', is_error: true }]),
  row(5, 'user', [{ type: 'image', source: { type: 'url', url: 'https://example.com/pixel.png' } }]),
]

const AGENT = [row(1, 'user', 'find tables'), row(2, 'assistant', [{ type: 'text', text: 'There are two.' }])]

/** Archives a small Claude Code session with a sub-agent and a bad line. */
export async function storeSession({ client }: Site): Promise<void> {
  const put = (path: string, bytes: Uint8Array) =>
    client.appendFile(SESSION, { path, generation: 1, offset: 0, bytes })
  await put(
    `${FOLDER}/agent-a1.meta.json`,
    lines([{ agentType: 'explorer', description: 'Find tables', toolUseId: 'toolu_2' }]),
  )
  await put(`${FOLDER}/agent-a1.jsonl`, lines(AGENT))
  await put(`${SESSION.id}.jsonl`, new Uint8Array([...lines(MAIN), ...new TextEncoder().encode('{"torn\n')]))
}
