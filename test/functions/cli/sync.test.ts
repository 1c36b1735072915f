import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { FEATURES_OFFERED } from '../../../functions/api/features.ts'
import { startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { cliIn } from './kit.ts'

it('a dry run says that nothing was sent, and its last line is that of the sync it stands for', async () => {
  const server = await startServer(undefined, FEATURES_OFFERED)
  const { run, folder } = cliIn({
    fetch: server.fetch,
    env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token, RUNFOLD_MACHINE: 'here' },
  })
  const path = join(folder, '.claude/projects/-w/5e551011-0000-4000-8000-000000000001.jsonl')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '{"type":"user","uuid":"u1","message":{"content":"hello"}}\n')

  const dry = await run('sync --dry-run')
  expect(dry.err).toMatch(/^a dry run: nothing was sent/)
  expect((await run('sync --dry-run --json')).lines.at(-1)?.summary).toMatchObject({
    archived: 1,
    dry_run: true,
  })
  expect((await run('sessions ls --json')).lines).toEqual([])

  const real = await run('sync')
  expect(real).toMatchObject({ code: 0, err: '', out: dry.out })
  expect((await run('sync --json')).lines.at(-1)?.summary).not.toHaveProperty('dry_run')
})
