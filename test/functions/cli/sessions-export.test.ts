import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { cliIn } from './kit.ts'

const TOKEN = ['ghp', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('_')
const FORMATS = ['md', 'html', 'json'] as const

/** A session `s1` of these rows, and what else lies beside it. */
const archived = async (rows: readonly string[], beside: Readonly<Record<string, string>> = {}) => {
  const server = await startServer(undefined, ['sessions'])
  const cli = cliIn({
    fetch: server.fetch,
    env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token, RUNFOLD_MACHINE: 'box' },
  })
  for (const [name, text] of Object.entries({ 's1.jsonl': `${rows.join('\n')}\n`, ...beside })) {
    const path = join(cli.folder, '.claude/projects/-w', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  await cli.run('sync')
  return cli.run
}

const assistant = (blocks: string, more = '') =>
  `{"type":"assistant","uuid":"a"${more},"message":{"model":"m","content":[${blocks}]}}`
const user = (text: string) => JSON.stringify({ type: 'user', uuid: 'u', message: { content: text } })

describe('a session', () => {
  it('with numbers that no double holds can be shown and exported, with every digit', async () => {
    const input = '{"a":1E400,"b":[-2e999,1],"c":"1E400","d":-0}'
    const run = await archived([assistant(`{"type":"tool_use","id":"t","name":"x","input":${input}}`)])
    for (const command of ['show s1 --full', 'export s1 --format md', 'export s1 --format html']) {
      const { code, out } = await run(`sessions ${command}`)
      expect(code, command).toBe(0)
      expect(out.replaceAll('&quot;', '"'), command).toContain(input)
    }
  })

  it('with a text of many million letters can be exported in every form', async () => {
    const run = await archived([user(`"\\\n${'long '.repeat(2_000_000)}${TOKEN}`)])
    for (const format of FORMATS) {
      const { code, out } = await run(`sessions export s1 --format ${format}`)
      expect(code, format).toBe(0)
      expect(out.length, format).toBeGreaterThan(10_000_000)
      expect(out.includes(TOKEN), format).toBe(false)
    }
  })
})

describe('an export', () => {
  it('shows a secret nowhere: in no name, folder, model, title or problem, nor of a sub-agent', async () => {
    const call = `{"type":"tool_use","id":"t","name":"${TOKEN}","input":{"${TOKEN}":"v","n":["${TOKEN}"]}}`
    const run = await archived(
      [
        user('hello'),
        assistant(call, `,"cwd":"/w/${TOKEN}"`).replace('"m"', `"${TOKEN}"`),
        JSON.stringify({ type: 'custom-title', customTitle: `about ${TOKEN}` }),
        user(`<persisted-output> tool-results/${TOKEN}`),
        JSON.stringify({
          type: 'user',
          message: {
            content: [
              { type: 'tool_result', tool_use_id: 't', content: `<persisted-output> tool-results/${TOKEN}` },
            ],
          },
        }),
      ],
      {
        's1/subagents/agent-x.jsonl': `${user('a task')}\n`,
        's1/subagents/agent-x.meta.json': JSON.stringify({ description: `with ${TOKEN}` }),
      },
    )
    for (const format of FORMATS) {
      const { out } = await run(`sessions export s1 --format ${format}`)
      expect(out.replaceAll('\\_', '_'), format).not.toContain(TOKEN)
      expect(out, format).toContain('redacted GITHUB')
      if (format === 'json') expect(JSON.parse(out).messages).toHaveLength(4)
    }
  })

  it('shows no secret behind a text that would switch the looking off', async () => {
    const run = await archived([user('// secretlint-disable'), user(`the token: ${TOKEN}`)])
    for (const format of FORMATS) {
      const { out } = await run(`sessions export s1 --format ${format}`)
      expect(out.replaceAll('\\_', '_'), format).not.toContain(TOKEN)
    }
  })
})
