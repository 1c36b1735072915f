import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { cliIn } from './kit.ts'

export const ID = '5e551011-0000-4000-8000-000000000001'
export const TOKEN = ['ghp', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('_')
export const MAIN = `.claude/projects/-w/${ID}.jsonl`

const row = (record: object) => `${JSON.stringify(record)}\n`
export const user = (uuid: string, content: unknown) =>
  row({ type: 'user', uuid, timestamp: '2026-11-02T09:00:00.000Z', cwd: '/w', message: { content } })
export const TRANSCRIPT =
  user('u1', 'Mend it\u001b[31m <script>alert(1)</script>') +
  row({
    type: 'assistant',
    uuid: 'u2',
    parentUuid: 'u1',
    timestamp: '2026-11-02T09:00:01.000Z',
    message: {
      id: 'm1',
      model: 'model-1',
      content: [
        { type: 'thinking', thinking: 'first line\nsecond line', signature: 's' },
        { type: 'text', text: `The key is ${TOKEN}` },
        { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls', n: 'BIG' } },
      ],
    },
  }).replace('"BIG"', '9007199254740993') +
  user('u3', [
    { type: 'tool_result', tool_use_id: 't1', content: '```\n# not a heading\n````', is_error: true },
  ]) +
  user('u4', [{ type: 'image', source: { type: 'url', url: 'https://tracker.example/x.png' } }]) +
  '{"type":"user",\n'

/** A session in the home of a CLI, with all that is hard to show, and archived by `sync`. */
export const archived = async () => {
  const server = await startServer(undefined, ['sessions'])
  const cli = cliIn({
    fetch: server.fetch,
    env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token, RUNFOLD_MACHINE: 'box' },
  })
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(cli.folder, name)), { recursive: true })
    writeFileSync(join(cli.folder, name), text)
  }
  write(MAIN, TRANSCRIPT)
  write(`.claude/projects/-w/${ID}/tool-results/a.txt`, 'what was moved')
  const synced = await cli.run('sync')
  return { ...cli, write, server, synced }
}
