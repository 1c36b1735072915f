import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { PREAMBLE } from '#codec'
import { runSchedule } from '../../kit/lambda-platform.ts'
import { joined } from '../../kit/stored-run.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { standing } from './deployed.ts'
import { begin, clientOf, message, until } from './lambda-kit.ts'

const { deployed, platform, ask } = standing()

describe('what the bundled API asks of the storage', () => {
  it('is one PUT and one UpdateItem for an append', async () => {
    const run = await begin(ask, 'metered')
    await run.append(joined(PREAMBLE, message('first')))
    await run.append(message('second'))
    const counts = () => ({
      ...Object.fromEntries(deployed().s3.operations),
      ...Object.fromEntries(deployed().dynamodb.operations),
    })
    const before = counts()
    const appends = 10
    for (let n = 0; n < appends; n++) expect((await run.append(message(`batch ${n}`))).status).toBe(200)
    const after = counts()
    const asked = Object.fromEntries(
      Object.keys(after)
        .map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)] as const)
        .filter(([name, n]) => n > 0 && name !== 'GetItem'), // reads of heads are no writes
    )
    expect(asked).toEqual({ PUT: appends, UpdateItem: appends })
  })

  it('never needs the S3 client to list runs', async () => {
    const file = join(temporaryFolder(), 'loads')
    const hook = fileURLToPath(new URL('report-loads.ts', import.meta.url))
    const variables = { NODE_OPTIONS: `--import=${hook}`, LOADS: file }
    const watched = await deployed().platform({ concurrency: 1, variables })
    const own = clientOf(watched.url)
    const { outputs } = JSON.parse(readFileSync(`${deployed().folderOf('api')}.meta.json`, 'utf8'))
    const holding = Object.entries<{ inputs: object }>(outputs)
      .filter(([, { inputs }]) => Object.keys(inputs).some((path) => path.includes('/@aws-sdk/client-s3/')))
      .map(([path]) => path.split('/').at(-1) ?? '')
    expect(holding.length).toBeGreaterThan(0)
    const isLoaded = () => holding.some((name) => readFileSync(file, 'utf8').includes(name))
    expect((await own('GET', '/v1/runs')).status).toBe(200)
    expect(readFileSync(file, 'utf8')).toContain('index.mjs')
    expect(isLoaded()).toBe(false)
    const run = await begin(own, 'loads')
    await run.append(joined(PREAMBLE, message('now it is needed')))
    expect(isLoaded()).toBe(true)
  })

  it('is maintenance of a run as soon as it is due, called once', async () => {
    const run = await begin(ask, 'due')
    const before = platform().invokes()
    await run.append(joined(PREAMBLE, message('0')))
    for (let n = 1; n < 32; n++) await run.append(message(String(n)))
    await until(async () => Number((await ask('GET', run.path)).json.stored.objects) < 32)
    expect(platform().invokes() - before).toBe(1)
  })
})

describe('the bundled maintenance', () => {
  it('does what is due when the schedule calls, and what a second call finds is nothing', async () => {
    const run = await begin(ask, 'scheduled')
    await run.append(joined(PREAMBLE, message('0')))
    for (let n = 1; n < 5; n++) await run.append(message(String(n)))
    await ask('DELETE', `${run.path}/lease?epoch=${run.epoch}`)
    await until(async () => {
      expect(await runSchedule(platform())).toBe('null')
      return Number((await ask('GET', run.path)).json.stored.objects) === 1
    })
  })
})
