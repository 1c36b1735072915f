// Made-up records of the three harnesses, one a line.

const at = (n: number) => new Date(Date.UTC(2026, 10, 2, 9) + n * 1000).toISOString()
const line = (record: object) => `${JSON.stringify(record)}\n`

export const claudeRow = (n: number, text = `message ${n} ü🚀`) =>
  n % 2 === 0
    ? line({
        type: 'user',
        uuid: `u${n}`,
        parentUuid: n > 0 ? `u${n - 1}` : null,
        timestamp: at(n),
        cwd: '/work',
        message: { role: 'user', content: text },
      })
    : line({
        type: 'assistant',
        uuid: `u${n}`,
        parentUuid: `u${n - 1}`,
        timestamp: at(n),
        message: {
          id: `m${n}`,
          role: 'assistant',
          model: 'model-1',
          content: [{ type: 'text', text }],
          usage: { input_tokens: n, output_tokens: 2 },
        },
      })

export const claudeRows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => claudeRow(from + i)).join('')

/** A tool result that names a file which the harness has moved it to. */
export const movedOutput = (n: number, name: string) =>
  line({
    type: 'user',
    uuid: `u${n}`,
    parentUuid: `u${n - 1}`,
    timestamp: at(n),
    message: {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: `t${n}`,
          content: `<persisted-output> full output: tool-results/${name}`,
        },
      ],
    },
  })

export const codexMeta = (id: string, more: object = {}) =>
  line({ timestamp: at(0), type: 'session_meta', payload: { id, cwd: '/work', ...more } })
const codexEvent = (n: number, payload: object) => line({ timestamp: at(n), type: 'event_msg', payload })
export const codexUser = (n: number) => codexEvent(n, { type: 'user_message', message: `question ${n}` })
export const codexAgent = (n: number) => codexEvent(n, { type: 'agent_message', message: `answer ${n}` })
export const codexTokens = (n: number, total: number) =>
  codexEvent(n, {
    type: 'token_count',
    info: { last_token_usage: { input_tokens: 5 }, total_token_usage: { input_tokens: total } },
  })

export const kimiMeta = line({ type: 'metadata', protocol_version: '1', created_at: 1_790_000_000_000 })
const kimiUser = (n: number) =>
  line({
    type: 'context.append_message',
    message: { role: 'user', content: [{ type: 'text', text: `question ${n}` }] },
    time: 1_790_000_000_000 + n,
  })
export const kimiUsers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => kimiUser(from + i)).join('')
export const kimiStepBegin = (n: number) =>
  line({
    type: 'context.append_loop_event',
    event: { type: 'step.begin', uuid: `s${n}`, turnId: 't', step: n },
    time: 1_790_000_000_000 + n,
  })
export const kimiPart = (n: number) =>
  line({
    type: 'context.append_loop_event',
    event: { type: 'content.part', stepUuid: `s${n}`, part: { type: 'text', text: `part ${n}` } },
    time: 1_790_000_000_000 + n,
  })
export const kimiStepEnd = (n: number) =>
  line({
    type: 'context.append_loop_event',
    event: { type: 'step.end', uuid: `s${n}`, usage: { output: 3 } },
    time: 1_790_000_000_000 + n,
  })
