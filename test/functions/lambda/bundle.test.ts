import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join as joinPath } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeFrame, PREAMBLE } from '#codec'
import { LAMBDA_LIMITS } from '../../../functions/api/limits.ts'
import { type Platform, runSchedule } from '../../kit/lambda-platform.ts'
import { MAX_EVENT_BYTES } from '../../kit/lambda-url.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { begin, type Client, clientOf, type Deployed, deploy, FRAMES, TOKEN } from './lambda-kit.ts'

// The bundles that are deployed, in processes that are run as Lambda runs them, on stand-ins of S3 and DynamoDB.

let deployed: Deployed
let platform: Platform
let ask: Client
let logged = ''

beforeAll(async () => {
  deployed = await deploy()
  platform = await deployed.platform({
    log: (line) => {
      logged += line
    },
  })
  ask = clientOf(platform.url)
}, 60_000)
afterAll(() => deployed.stop())

const bytesOf = (text: string) => new TextEncoder().encode(text)
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))
const message = (content: string) =>
  encodeFrame(bytesOf(JSON.stringify({ Message: { message: { role: 'user', content }, at: 1 } })))
/** Looks until it is so; what it waits for is done by other processes. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50)
}

describe('the bundled API', () => {
  it('keeps every byte of a batch, whatever it holds', async () => {
    const run = await begin(ask, 'all-bytes')
    const payload = Uint8Array.from({ length: 256 * 3 }, (_, n) => n % 256)
    const batch = join(PREAMBLE, message('first'), encodeFrame(payload))
    expect((await run.append(batch)).json).toMatchObject({ tail: batch.length, unreadable_frames: 1 })
    const got = await ask('GET', `${run.path}/archive`)
    expect(got.status).toBe(200)
    expect(Buffer.compare(got.body, batch)).toBe(0)
  })

  it('refuses an empty body as the server does', async () => {
    const run = await begin(ask, 'empty')
    const answer = await run.append(new Uint8Array(0))
    expect(answer.status).toBe(422)
    expect(answer.json).toMatchObject({ code: 'bad_frames', reason: 'empty_batch' })
  })

  it('takes a batch of the advertised size, names uploads for one byte more, and streams them all back', async () => {
    const { max_batch_bytes } = LAMBDA_LIMITS
    const run = await begin(ask, 'limits')
    const full = (length: number) => {
      const payload = new Uint8Array(length - PREAMBLE.length - 8).fill(0x61)
      return join(PREAMBLE, encodeFrame(payload))
    }
    const over = await run.append(full(max_batch_bytes + 1))
    expect(over.status).toBe(413)
    expect(over.json).toMatchObject({ code: 'too_large', max_batch_bytes, uploads: `${run.path}/uploads` })
    const batch = full(max_batch_bytes)
    expect((await run.append(batch)).status).toBe(200)
    const second = batch.subarray(PREAMBLE.length)
    expect((await run.append(second)).status).toBe(200)
    const got = await ask('GET', `${run.path}/archive`)
    expect(got.body.length).toBeGreaterThan(MAX_EVENT_BYTES) // no answer that is gathered could have so many
    expect(Buffer.compare(got.body, join(batch, second))).toBe(0)
  })

  it('never sees an event over 6 MB, which the platform refuses', async () => {
    const run = await begin(ask, 'over')
    const before = logged.length
    const body = new Uint8Array((MAX_EVENT_BYTES * 3) / 4)
    const path = `${run.path}/frames?offset=0&epoch=${run.epoch}`
    const refused = await ask('POST', path, { body, headers: FRAMES })
    expect(refused.status).toBe(413)
    expect(logged.slice(before)).toBe('')
    // Just under it, it is our own refusal.
    const headroom = 2048
    const under = await ask('POST', path, { body: body.subarray(0, body.length - headroom), headers: FRAMES })
    expect(under.json).toMatchObject({ code: 'too_large' })
  })

  it('answers none of the routes of the local server', async () => {
    const login = { body: '{"code":"x"}', headers: { 'content-type': 'application/json' } }
    expect((await ask('GET', '/metrics')).status).toBe(404)
    expect((await ask('POST', '/v1/login', login)).status).toBe(404)
  })

  it('serves the viewer beside its routes, with the policy that keeps it to itself', async () => {
    const page = await ask('GET', '/')
    expect(page.status).toBe(200)
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    expect((await ask('GET', '/main.js')).headers['content-type']).toContain('text/javascript')
  })

  it('stops reading when its caller leaves in the middle of an answer', async () => {
    const variables = { RUNFOLD_MAINTAIN_FUNCTION: '' } // which would read here, too
    const alone = await deployed.platform({ concurrency: 1, variables })
    const own = clientOf(alone.url)
    const run = await begin(own, 'leaver')
    const frame = encodeFrame(new Uint8Array(4_000_000).fill(0x61))
    await run.append(join(PREAMBLE, frame))
    for (let n = 0; n < 7; n++) await run.append(frame)
    const gets = () => deployed.s3.operations.get('GET') ?? 0
    const before = gets()
    await new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}` }
      const sent = request(`${alone.url}${run.path}/archive`, { headers, agent: false }, (answer) => {
        answer.once('data', () => {
          answer.destroy()
          resolve()
        })
      })
      sent.once('error', reject).end()
    })
    // Its only process has time for the next request, though nobody has read the first to its end.
    expect((await own('GET', '/v1/health')).status).toBe(200)
    expect(gets() - before).toBeLessThan(8)
  })

  it('asks the readers of a stream to come again before its own time is over', async () => {
    const short = await deployed.platform({ concurrency: 1, timeoutMs: 16_000 })
    const own = clientOf(short.url)
    const run = await begin(own, 'stream')
    await run.append(join(PREAMBLE, message('told')))
    const { body, headers } = await own('GET', `${run.path}/events?offset=0`)
    expect(headers['content-type']).toBe('text/event-stream')
    expect(body.toString()).toMatch(
      /event: record\nid: \d+\ndata: .*told.*\n\n[\s\S]*event: reconnect\ndata: \{\}\n\n$/,
    )
  })

  it('answers who waits when it is asked to end, and then ends', async () => {
    const ending = await deployed.platform({ concurrency: 1 })
    const own = clientOf(ending.url)
    const run = await begin(own, 'waiter')
    await run.append(join(PREAMBLE, message('one')))
    const waiting = own('GET', `${run.path}/records?from=1&wait_s=20`)
    const [pid = 0] = ending.api.pids
    const looks = () => deployed.dynamodb.operations.get('GetItem') ?? 0
    const before = looks()
    await until(async () => looks() > before + 1) // it waits by now
    process.kill(pid, 'SIGTERM')
    expect((await waiting).json).toMatchObject({ items: [] })
    await until(async () => !ending.api.pids.includes(pid))
  })

  it('lets nobody in who does not come by the front door', async () => {
    const secret = 'canary-of-the-front-door'
    const behind = await deployed.platform({ variables: { RUNFOLD_ORIGIN_SECRET: secret } })
    const own = clientOf(behind.url)
    expect((await own('GET', '/v1/health')).json).toMatchObject({ code: 'forbidden' })
    expect((await own('GET', '/v1/health', { headers: { 'x-runfold-origin': `${secret}!` } })).status).toBe(
      403,
    )
    expect((await own('GET', '/v1/health', { headers: { 'x-runfold-origin': secret } })).status).toBe(200)
  })
})

describe('what the bundled API asks of the storage', () => {
  it('is one PUT and one UpdateItem for an append', async () => {
    const run = await begin(ask, 'metered')
    await run.append(join(PREAMBLE, message('first')))
    await run.append(message('second'))
    const counts = () => ({
      ...Object.fromEntries(deployed.s3.operations),
      ...Object.fromEntries(deployed.dynamodb.operations),
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
    const file = joinPath(temporaryFolder(), 'loads')
    const hook = fileURLToPath(new URL('report-loads.ts', import.meta.url))
    const variables = { NODE_OPTIONS: `--import=${hook}`, LOADS: file }
    const watched = await deployed.platform({ concurrency: 1, variables })
    const own = clientOf(watched.url)
    const { outputs } = JSON.parse(readFileSync(`${deployed.folderOf('api')}.meta.json`, 'utf8'))
    const holding = Object.entries<{ inputs: object }>(outputs)
      .filter(([, { inputs }]) => Object.keys(inputs).some((path) => path.includes('/@aws-sdk/client-s3/')))
      .map(([path]) => path.split('/').at(-1) ?? '')
    expect(holding.length).toBeGreaterThan(0)
    const isLoaded = () => holding.some((name) => readFileSync(file, 'utf8').includes(name))
    expect((await own('GET', '/v1/runs')).status).toBe(200)
    expect(readFileSync(file, 'utf8')).toContain('index.mjs')
    expect(isLoaded()).toBe(false)
    const run = await begin(own, 'loads')
    await run.append(join(PREAMBLE, message('now it is needed')))
    expect(isLoaded()).toBe(true)
  })

  it('is maintenance of a run as soon as it is due, called once', async () => {
    const run = await begin(ask, 'due')
    const before = platform.invokes()
    await run.append(join(PREAMBLE, message('0')))
    for (let n = 1; n < 32; n++) await run.append(message(String(n)))
    await until(async () => Number((await ask('GET', run.path)).json.stored.objects) < 32)
    expect(platform.invokes() - before).toBe(1)
  })
})

describe('the bundled maintenance', () => {
  it('does what is due when the schedule calls, and what a second call finds is nothing', async () => {
    const run = await begin(ask, 'scheduled')
    await run.append(join(PREAMBLE, message('0')))
    for (let n = 1; n < 5; n++) await run.append(message(String(n)))
    await ask('DELETE', `${run.path}/lease?epoch=${run.epoch}`)
    await until(async () => {
      expect(await runSchedule(platform)).toBe('null')
      return Number((await ask('GET', run.path)).json.stored.objects) === 1
    })
  })
})

describe('what the functions log', () => {
  it('is a line of JSON for each request, and never a token, a query, a secret or a byte of a body', async () => {
    const canary = 'canary-in-a-body'
    const run = await begin(ask, 'logged')
    const batch = join(PREAMBLE, message(canary))
    const before = logged.length
    const { json } = await run.append(batch)
    await ask('GET', `/v1/runs?q=canary-in-a-query`)
    await ask('GET', `${run.path}/archive`)
    await ask('GET', `${run.path}/fold`, { token: 'canary-of-a-wrong-token' })
    await ask('POST', '/v1/tokens', {
      body: JSON.stringify({ name: 'canary-in-json', scopes: ['read'] }),
      headers: { 'content-type': 'application/json' },
    })
    await until(async () => logged.includes('token.make'))
    const lines = logged
      .slice(before)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const requests = lines.filter(({ message, route }) => message === 'request' && !route.endsWith('/lease'))
    expect(requests).toHaveLength(5)
    expect(requests[0]).toMatchObject({
      level: 'INFO',
      request_id: expect.stringMatching(/^[\w-]{20,}$/),
      route: '/v1/runs/{run_id}/frames',
      tenant: 'default',
      run_id: 'logged',
      epoch: json.epoch,
      status: 200,
      bytes_in: batch.length,
      ms: expect.any(Number),
    })
    expect(requests[2]).toMatchObject({ audit: 'archive.read' })
    expect(requests[3]).toMatchObject({ code: 'unauthorized', status: 401 })
    expect(requests[4]).toMatchObject({ audit: 'token.make', subject: expect.stringMatching(/^tok_/) })
    expect(logged).not.toContain('canary')
  })

  it('tells what is behind a failure, and nothing of what was sent', async () => {
    const run = await begin(ask, 'failing')
    const before = logged.length
    deployed.disturb(({ operation }) => (operation === 'PUT' ? 'error_before' : undefined))
    const answer = await run.append(join(PREAMBLE, message('canary-in-a-body')))
    deployed.disturb(() => undefined)
    expect(answer.json).toMatchObject({ status: 503, code: 'unavailable', retry_after_s: 1 })
    await until(async () => logged.slice(before).includes('"ERROR"'))
    const lines = logged
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"ERROR"'))
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      code: 'unavailable',
      run_id: 'failing',
      cause: expect.stringContaining('InternalServerError'),
    })
    expect(logged).not.toContain('canary')
  })

  it('counts for CloudWatch in its embedded format, without dimensions', async () => {
    const run = await begin(ask, 'counted')
    const before = logged.length
    const batch = join(PREAMBLE, message('counted'))
    await run.append(batch)
    await until(async () => logged.slice(before).includes('"Appends":1'))
    const lines = logged
      .slice(before)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const line = lines.find(({ Appends }) => Appends === 1)
    expect(line).toMatchObject({ Appends: 1, AppendedBytes: batch.length })
    const [metric] = line._aws.CloudWatchMetrics
    expect(metric).toMatchObject({ Namespace: 'runfold', Dimensions: [[]] })
    expect(metric.Metrics).toContainEqual({ Name: 'AppendedBytes', Unit: 'Bytes' })
  })
})
