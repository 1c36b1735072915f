import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { encodeFrame, PREAMBLE } from '#codec'
import { LAMBDA_LIMITS } from '../../../functions/api/limits.ts'
import { MAX_EVENT_BYTES } from '../../kit/lambda-url.ts'
import { joined } from '../../kit/stored-run.ts'
import { standing } from './deployed.ts'
import { begin, clientOf, FRAMES, message, TOKEN, until } from './lambda-kit.ts'

const { deployed, ask, logged } = standing()

describe('the bundled API', () => {
  it('keeps every byte of a batch, whatever it holds', async () => {
    const run = await begin(ask, 'all-bytes')
    const payload = Uint8Array.from({ length: 256 * 3 }, (_, n) => n % 256)
    const batch = joined(PREAMBLE, message('first'), encodeFrame(payload))
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
      return joined(PREAMBLE, encodeFrame(payload))
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
    expect(Buffer.compare(got.body, joined(batch, second))).toBe(0)
  })

  it('never sees an event over 6 MB, which the platform refuses', async () => {
    const run = await begin(ask, 'over')
    const before = logged().length
    const body = new Uint8Array((MAX_EVENT_BYTES * 3) / 4)
    const path = `${run.path}/frames?offset=0&epoch=${run.epoch}`
    const refused = await ask('POST', path, { body, headers: FRAMES })
    expect(refused.status).toBe(413)
    expect(logged().slice(before)).toBe('')
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
    const alone = await deployed().platform({ concurrency: 1, variables })
    const own = clientOf(alone.url)
    const run = await begin(own, 'leaver')
    const frame = encodeFrame(new Uint8Array(4_000_000).fill(0x61))
    await run.append(joined(PREAMBLE, frame))
    for (let n = 0; n < 7; n++) await run.append(frame)
    const gets = () => deployed().s3.operations.get('GET') ?? 0
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
    const short = await deployed().platform({ concurrency: 1, timeoutMs: 16_000 })
    const own = clientOf(short.url)
    const run = await begin(own, 'stream')
    await run.append(joined(PREAMBLE, message('told')))
    const { body, headers } = await own('GET', `${run.path}/events?offset=0`)
    expect(headers['content-type']).toBe('text/event-stream')
    expect(body.toString()).toMatch(
      /event: record\nid: \d+\ndata: .*told.*\n\n[\s\S]*event: reconnect\ndata: \{\}\n\n$/,
    )
  })

  it('answers who waits when it is asked to end, and then ends', async () => {
    const ending = await deployed().platform({ concurrency: 1 })
    const own = clientOf(ending.url)
    const run = await begin(own, 'waiter')
    await run.append(joined(PREAMBLE, message('one')))
    const waiting = own('GET', `${run.path}/records?from=1&wait_s=20`)
    const [pid = 0] = ending.api.pids
    const looks = () => deployed().dynamodb.operations.get('GetItem') ?? 0
    const before = looks()
    await until(async () => looks() > before + 1) // it waits by now
    process.kill(pid, 'SIGTERM')
    expect((await waiting).json).toMatchObject({ items: [] })
    await until(async () => !ending.api.pids.includes(pid))
  })

  it('lets nobody in who does not come by the front door', async () => {
    const secret = 'canary-of-the-front-door'
    const behind = await deployed().platform({ variables: { RUNFOLD_ORIGIN_SECRET: secret } })
    const own = clientOf(behind.url)
    expect((await own('GET', '/v1/health')).json).toMatchObject({ code: 'forbidden' })
    expect((await own('GET', '/v1/health', { headers: { 'x-runfold-origin': `${secret}!` } })).status).toBe(
      403,
    )
    expect((await own('GET', '/v1/health', { headers: { 'x-runfold-origin': secret } })).status).toBe(200)
  })
})
