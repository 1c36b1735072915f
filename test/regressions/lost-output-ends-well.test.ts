import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { demoBytes } from '../functions/cli/kit.ts'

// `runfold fold … > file` on a full disk wrote nothing and exited with 0, and longer answers said 130, as if somebody had
// pressed Ctrl-C: a script kept half an answer and took it for the whole.

const main = new URL('../../functions/cli/main.ts', import.meta.url).pathname
const FULL = '/dev/full'

it.skipIf(!existsSync(FULL))(
  'says that the output is lost, whether it is short or long',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'runfold-full-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'run.lvr'), demoBytes())
    for (const command of ['fold', 'records']) {
      const full = openSync(FULL, 'w')
      const { status, stderr } = spawnSync(process.execPath, [main, command, 'run.lvr', '--json'], {
        cwd: folder,
        stdio: ['ignore', full, 'pipe'],
      })
      expect(JSON.parse(stderr.toString())).toMatchObject({
        code: 'usage',
        detail: expect.stringContaining('the output cannot be written'),
      })
      expect(status).toBe(2)
    }
  },
  20_000,
)
