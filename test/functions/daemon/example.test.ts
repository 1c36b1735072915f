import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createClient, Redacted } from '#client'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { startProcess } from '../api/server-process.ts'

const DAEMON = fileURLToPath(new URL('../../../docs/examples/daemon.mjs', import.meta.url))
const STEPS = 8

interface Example {
  /** Resolves when it has said so many lines that begin with this. */
  said(beginning: string, times?: number): Promise<unknown>
  kill(): void
  readonly ended: Promise<number | null>
}

it('the example daemon is killed, and another carries its run on to the end', {
  timeout: 60_000,
}, async () => {
  const folder = temporaryFolder()
  const server = await startProcess(folder, { RUNFOLD_ADMIN_TOKEN: 'secret' })
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const url = server.url.href.replace(/\/$/, '')
  const work = join(folder, 'work')
  const start = (machine: string, token = 'secret'): Example => {
    const env = { RUNFOLD_URL: url, RUNFOLD_TOKEN: token, WORK_FILE: work, STEP_MS: '50' }
    const child = spawn(process.execPath, [DAEMON, 'example', machine, String(STEPS)], { env })
    onTestFinished(() => void child.kill('SIGKILL'))
    let out = ''
    const said = (beginning: string, times = 1) => {
      const count = () => out.split('\n').filter((line) => line.startsWith(beginning)).length
      return new Promise<void>((resolve) => {
        const look = () => count() >= times && resolve()
        child.stdout.on('data', look)
        look()
      })
    }
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    return {
      said,
      kill: () => void child.kill('SIGKILL'),
      ended: new Promise((resolve) => child.once('close', resolve)),
    }
  }

  const first = start('laptop')
  await first.said('iteration', 3)
  first.kill()
  await first.ended
  const second = start('desktop')
  await second.said('took the run over')
  expect(await second.ended).toBe(0)
  expect(await start('late').ended).toBe(0)
  const stranger = start('stranger', 'wrong')
  await stranger.said('unauthorized: ')
  expect(await stranger.ended).toBe(1)

  const client = createClient({ url, token: new Redacted('secret') })
  const { folded } = (await client.fold('example')) as never as {
    folded: {
      meta: object
      identity: object
      context: { regions: { entries: { content: string }[] }[] }
      pending_batch: null
    }
  }
  expect(folded).toMatchObject({
    identity: { machine_id: 'desktop' },
    meta: { status: 'complete', iteration: STEPS },
    pending_batch: null,
  })
  const steps = Array.from({ length: STEPS }, (_, n) => `step-${n + 1}`)
  expect(folded.context.regions[0]?.entries.map(({ content }) => content)).toEqual(
    steps.map((step) => `${step} done`),
  )
  expect(await client.verify('example')).toMatchObject({ ok: true })
  const done = readFileSync(work, 'utf8').trimEnd().split('\n')
  const firsts = done.filter((line) => line.startsWith('laptop')).length
  expect(firsts).toBeGreaterThanOrEqual(3)
  // A step whose result did not reach the journal is done again, and no other.
  expect(new Set(done.map((line) => line.split(' ')[1]))).toEqual(new Set(steps))
  expect(done.length).toBeLessThanOrEqual(STEPS + 1)
})

it('the example daemon says what it needs', () => {
  const { status, stdout } = spawnSync(process.execPath, [DAEMON], { env: {}, encoding: 'utf8' })
  expect([status, stdout]).toEqual([2, expect.stringContaining('node daemon.mjs <run> <machine>')])
})
