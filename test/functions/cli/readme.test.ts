import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FEATURES_OFFERED } from '../../../functions/api/features.ts'
import { startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { cliIn } from './kit.ts'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
const lines = [...readme.matchAll(/^npm run -s cli -- ([^#\n]*)/gm)].map(([, line = '']) => line.trim())

it('the commands of the README do what it says, in its order', async () => {
  const server = await startServer(undefined, FEATURES_OFFERED)
  const env = { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token }
  const { run, folder } = cliIn({ fetch: server.fetch, env })
  mkdirSync(join(folder, '.leviath', 'runs'), { recursive: true })
  let count = 0
  for (const line of lines) {
    const [command = '', compare] = line.split(' && ')
    // What does not end by itself is ended as Ctrl-C does, once it has begun.
    const isEndless = command.startsWith('watch')
    const { code, out, err } = await run(command, isEndless ? { signal: AbortSignal.abort() } : {})
    expect(err, command).toBe('')
    expect(isEndless ? [0, 130] : [0], command).toContain(code)
    if (!isEndless) expect(out).not.toBe('')
    if (compare) {
      const [, one = '', other = ''] = /^cmp (\S+) (\S+)$/.exec(compare) ?? []
      expect(readFileSync(join(folder, one)).equals(readFileSync(join(folder, other)))).toBe(true)
    }
    count++
  }
  expect(count).toBeGreaterThan(5)
})
