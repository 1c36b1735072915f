import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { createClient, Redacted } from '#client'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { startProcess } from '../api/server-process.ts'

const doc = readFileSync(new URL('../../../docs/RESUME.md', import.meta.url), 'utf8')

const has = (program: string) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const isAble = has('bash') && has('curl') && has('sha256sum')

it.skipIf(!isAble)(
  'the lines of RESUME.md move a run, as they stand (needs bash, curl and sha256sum)',
  { timeout: 60_000 },
  async () => {
    const folder = temporaryFolder()
    const server = await startProcess(folder, { RUNFOLD_ADMIN_TOKEN: 'secret' })
    onTestFinished(() => void server.child.kill('SIGKILL'))
    const url = server.url.href.replace(/\/$/, '')
    const script = [...doc.matchAll(/^```sh\n(.*?)^```/gms)].map(([, lines]) => lines).join('\n')
    const { PATH = '' } = process.env
    const env = { PATH, RUNFOLD_URL: url, RUNFOLD_TOKEN: 'secret' }
    await new Promise<void>((resolve, reject) => {
      execFile('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env }, (error, out, err) =>
        error ? reject(new Error(`${out}\n${err}`, { cause: error })) : resolve(),
      )
    })

    const client = createClient({ url, token: new Redacted('secret') })
    const { folded } = await client.fold('resume-example')
    expect(folded).toMatchObject({ identity: { machine_id: 'desktop' }, meta: { status: 'complete' } })
    const { items } = await client.records('resume-example')
    expect(items.map(({ kind }) => kind)).toEqual([
      'Header',
      'ContextCheckpoint',
      'ToolBatch',
      'OwnershipChanged',
      'ContextCheckpoint',
      'StatusChanged',
    ])
    expect((await client.leaseState('resume-example')).lease).toBeNull()
  },
)
