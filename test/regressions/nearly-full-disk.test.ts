import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { cliIn, demoBytes } from '../functions/cli/kit.ts'
import { startServer, URL_OF_SERVER } from '../shared/client/kit.ts'

// On a disk with room for a part of the last chunk, one write took that part and told no error: `pull`, `sessions restore`
// and `sessions export -o` left a cut file under the final name and ended with 0.

/** From here on a write takes at most so many bytes, as the system may do at any time. */
const takeAtMost = async (most: number) => {
  const some = await open(devNull, 'r')
  const handle: FileHandle = Object.getPrototypeOf(some)
  await some.close()
  const { write } = handle
  onTestFinished(() => void Object.assign(handle, { write }))
  Object.assign(handle, {
    write(bytes: Uint8Array, offset = 0, length = bytes.length - offset, at: number | null = null) {
      return Reflect.apply(write, this, [bytes, offset, Math.min(length, most), at])
    },
  })
}

const cliOnServer = async () => {
  const server = await startServer(undefined, ['sessions'])
  const env = { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token, RUNFOLD_MACHINE: 'box' }
  return cliIn({ fetch: server.fetch, env })
}

it('a pull writes what one write does not take', async () => {
  const { folder, run, write } = await cliOnServer()
  write('run.lvr', demoBytes())
  await run('push run.lvr')
  await takeAtMost(1000)
  expect((await run('pull demo-1 back.lvr')).code).toBe(0)
  expect(readFileSync(join(folder, 'back.lvr')).equals(demoBytes())).toBe(true)
})

it('so do restore and export', async () => {
  const { folder, run } = await cliOnServer()
  const transcript = `${JSON.stringify({ type: 'user', uuid: 'u', cwd: '/w', message: { content: 'x'.repeat(9000) } })}\n`
  mkdirSync(join(folder, '.claude/projects/-w'), { recursive: true })
  writeFileSync(join(folder, '.claude/projects/-w/s-1.jsonl'), transcript)
  expect((await run('sync')).code).toBe(0)
  const { out } = await run('sessions export s-1')
  await takeAtMost(1000)
  expect((await run('sessions restore s-1 --to-dir other')).code).toBe(0)
  expect(readFileSync(join(folder, 'other/projects/-w/s-1.jsonl'), 'utf8')).toBe(transcript)
  expect((await run('sessions export s-1 -o s.md')).code).toBe(0)
  expect(readFileSync(join(folder, 's.md'), 'utf8')).toBe(out)
})
