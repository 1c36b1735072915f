import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cliIn } from '../functions/cli/kit.ts'
import { startServer, URL_OF_SERVER } from '../shared/client/kit.ts'

// Texts stood in the exported Markdown as quotes, and in a quote HTML runs, pictures are fetched, and what was redacted is a
// tag that nobody sees. On a terminal an export moved the cursor.

const exported = async (content: string, isTerminal = false) => {
  const server = await startServer(undefined, ['sessions'])
  const env = { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token, RUNFOLD_MACHINE: 'box' }
  const { folder, run } = cliIn({ fetch: server.fetch, env })
  const title = { type: 'custom-title', customTitle: 'title' }
  const records = [title, { type: 'user', uuid: 'u', cwd: '/w', message: { content } }]
  mkdirSync(join(folder, '.claude/projects/-w'), { recursive: true })
  const transcript = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  writeFileSync(join(folder, '.claude/projects/-w/s-1.jsonl'), transcript)
  await run('sync')
  return (await run('sessions export s-1', { isTerminal })).out
}

it.each([
  '<script>alert(1)</script>',
  'one\n<img src=x onerror=alert(1)>',
  '<!-- hidden -->',
  '![pixel](https://tracker.example/x.png)',
  '[click](javascript:alert(1))',
  '[click](java&#115;cript:alert(1))',
  '[click]\n\n[click]: data&colon;text/html,x',
])('what would act stands in a fence: %j', async (text) => {
  expect(await exported(text)).toContain(`\n\`\`\`\n${text}\n\`\`\`\n`)
})

it('other texts are quotes, as they were written', async () => {
  expect(await exported('# a *word*\na < b && [docs](https://docs.example)')).toContain(
    '\n> # a *word*\n> a < b && [docs](https://docs.example)\n',
  )
})

it('on a terminal it is harmless', async () => {
  expect(await exported('red \u001b[31m', true)).toContain('> red \\u001b[31m')
  expect(await exported('red \u001b[31m')).toContain('> red \u001b[31m')
})
