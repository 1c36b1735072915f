import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Answer, checkpoint, frame, header, join, makeRun, owner, PREAMBLE, testApi } from './api-kit.ts'

const latin1 = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes)
const LINES = { accept: 'application/x-ndjson' }
const lines = (answer: Answer) =>
  answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

describe('service', () => {
  it('capabilities tell limits and features', async () => {
    const { root } = await testApi()
    expect((await root.get('/v1/capabilities')).json).toEqual({
      version: '0.0.0',
      format_versions: [1],
      limits: {
        max_batch_bytes: 8388608,
        max_frame_bytes: 268435456,
        lease_ttl_s: { min: 5, default: 60, max: 3600 },
        page_max: 1000,
      },
      features: [],
    })
  })

  it('every answer has a request id of its own, and what holds data is not to be stored', async () => {
    const { root } = await testApi()
    const answers = [await root.get('/v1/health'), await root.get('/v1/runs'), await root.get('/v1/none')]
    expect(new Set(answers.map((answer) => answer.headers.get('runfold-request-id'))).size).toBe(3)
    for (const answer of answers) expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('one event a request tells the observer how it ended', async () => {
    const { root, events } = await testApi()
    await makeRun(root, 'a')
    await root.get('/v1/runs/a/fold?seq=9')
    expect(events.at(-1)).toMatchObject({
      method: 'GET',
      route: '/v1/runs/{run_id}/fold',
      run_id: 'a',
      status: 416,
      code: 'range_not_satisfiable',
    })
    await root.get('/v1/none')
    expect(events.at(-1)).toMatchObject({ route: undefined, status: 404, code: 'not_found' })
  })

  it('routes of absent features do not exist', async () => {
    const { root } = await testApi()
    for (const path of ['uploads', 'fork', 'events', 'usage']) {
      expect((await root.post(`/v1/runs/a/${path}`, {})).status).toBe(404)
    }
    for (const path of ['/v1/claims', '/v1/sessions/claude-code/x/files']) {
      expect((await root.post(path, {})).status).toBe(404)
    }
  })
})

describe('lease', () => {
  it('goes from creation to release', async () => {
    const { root } = await testApi()
    const made = await root.post('/v1/runs/a/lease', { ...owner, ttl_s: 30 })
    expect([made.status, made.json.epoch, made.json.lease.ttl_s]).toEqual([201, 1, 30])
    expect((await root.post('/v1/runs/a/lease', owner)).status).toBe(200)
    expect((await root.put('/v1/runs/a/lease', { epoch: 1, ttl_s: 40 })).json.lease.ttl_s).toBe(40)
    expect((await root.get('/v1/runs/a/lease')).json).toMatchObject({
      epoch: 1,
      lease: owner,
      history: [{ reason: 'acquired' }],
    })
    const released = await root.delete('/v1/runs/a/lease?epoch=1')
    expect([released.status, released.text]).toEqual([204, ''])
    expect((await root.get('/v1/runs/a/lease')).json.lease).toBeNull()
  })

  it.each([
    '{"machine_id":',
    'null',
    '[]',
    '"x"',
    '',
    '\ufeff{}',
    '{"machine_id":"m","world_id":"w","surprise":1}',
    '{"__proto__":{"force":true},"machine_id":"m","world_id":"w"}',
    '{"machine_id":"m","world_id":"w","ttl_s":1e300}',
    '{"machine_id":"m","world_id":"w","ttl_s":4}',
    `${'['.repeat(120_000)}${']'.repeat(120_000)}`,
    `{"machine_id":"m","world_id":"w","requires":${'['.repeat(120_000)}${']'.repeat(120_000)}}`,
  ])('a body %.60j is refused and makes no run', async (body) => {
    const { root } = await testApi()
    const answer = await root.send('POST', '/v1/runs/a/lease', {
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(answer.json.code).toBe('bad_request')
    expect((await root.get('/v1/runs/a')).status).toBe(404)
  })

  it('a body that is not UTF-8 is refused', async () => {
    const { root } = await testApi()
    const body = new Uint8Array([
      ...Buffer.from('{"machine_id":"'),
      0xff,
      ...Buffer.from('","world_id":"w"}'),
    ])
    const answer = await root.send('POST', '/v1/runs/a/lease', {
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(answer.json.code).toBe('bad_request')
  })
})

describe('frames', () => {
  it('a batch may come in gzip, and is the same batch', async () => {
    const { root } = await testApi()
    await root.post('/v1/runs/a/lease', owner)
    const batch = join(PREAMBLE, header('a'))
    const ack = await root.append('a', 0, 1, gzipSync(batch), { 'content-encoding': 'gzip' })
    expect(ack.json).toMatchObject({ tail: batch.length, replayed: false })
    expect((await root.append('a', 0, 1, batch)).json).toMatchObject({ tail: batch.length, replayed: true })
  })

  it.each([
    '',
    '?offset=0',
    '?epoch=1',
    '?offset=0&epoch=1&x=1',
    '?offset=0&offset=0&epoch=1',
    '?offset=-1&epoch=1',
    '?offset=1e3&epoch=1',
    '?offset=9007199254740992&epoch=1',
    '?offset=0&epoch=%2B1',
    '?offset=%D9%A5&epoch=1',
  ])('the query %j is refused', async (query) => {
    const { root } = await testApi()
    await root.post('/v1/runs/a/lease', owner)
    const headers = { 'content-type': 'application/octet-stream' }
    const answer = await root.send('POST', `/v1/runs/a/frames${query}`, { headers, body: PREAMBLE })
    expect(answer.json.code).toBe('bad_request')
    expect((await root.get('/v1/runs/a')).json.tail).toBe(0)
  })
})

describe('runs', () => {
  it('HEAD tells the position, and the ETag follows the run', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const head = await root.head(w.path)
    expect(head.text).toBe('')
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'runfold-tail': String(w.tail),
      'runfold-frames': '3',
      'runfold-digest': w.ack.json.digest,
      'runfold-epoch': '1',
    })
    const etag = (await root.get(w.path)).headers.get('etag') as string
    const same = await root.get(w.path, { 'if-none-match': `"x", W/${etag}` })
    expect([same.status, same.text]).toEqual([304, ''])
    await root.append('a', w.tail, 1, checkpoint(9))
    expect((await root.get(w.path, { 'if-none-match': etag })).status).toBe(200)
  })

  it('a deleted run is gone from every read', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    expect((await root.delete(`${w.path}?force=true`)).status).toBe(204)
    for (const path of ['', '/archive', '/records', '/fold', '/points', '/points/0', '/lease']) {
      expect((await root.get(w.path + path)).status).toBe(404)
    }
    expect((await root.get('/v1/runs')).json.items).toEqual([])
  })
})

describe('archive', () => {
  it('gives the very bytes, whole and in ranges', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const whole = await root.get(`${w.path}/archive`)
    expect(whole.text).toBe(latin1(w.bytes))
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'application/vnd.runfold.lvr1',
      'content-length': String(w.tail),
      'content-disposition': 'attachment; filename="a.lvr"',
      etag: `"${w.ack.json.digest}"`,
    })
    const part = await root.get(`${w.path}/archive`, { range: 'bytes=5-104' })
    expect([part.status, part.text]).toEqual([206, latin1(w.bytes.subarray(5, 105))])
    expect(part.headers.get('content-range')).toBe(`bytes 5-104/${w.tail}`)
    expect((await root.get(`${w.path}/archive`, { range: 'bytes=0-1,5-6' })).text).toBe(latin1(w.bytes))
    expect((await root.get(`${w.path}/archive?redirect=true`)).text).toBe(latin1(w.bytes))
  })

  it('a range counts only of the bytes its If-Range names', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const range = { range: 'bytes=0-5' }
    expect(
      (await root.get(`${w.path}/archive`, { ...range, 'if-range': `"${w.ack.json.digest}"` })).status,
    ).toBe(206)
    expect((await root.get(`${w.path}/archive`, { ...range, 'if-range': '"other"' })).status).toBe(200)
  })

  it('HEAD and 304 have headers and no body', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const head = await root.head(`${w.path}/archive`)
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', String(w.tail)])
    const same = await root.get(`${w.path}/archive`, { 'if-none-match': `"${w.ack.json.digest}"` })
    expect([same.status, same.text]).toEqual([304, ''])
  })

  it('a download ends when its token is revoked', async () => {
    const { app, root, clock } = await testApi()
    const w = await makeRun(root, 'a')
    await root.append('a', w.tail, 1, checkpoint(9, ['x'.repeat(100_000)]))
    await root.append('a', (await root.get(w.path)).json.tail, 1, checkpoint(9, ['x'.repeat(100_000)]))
    const made = (await root.post('/v1/tokens', { name: 'n', scopes: ['resume'] })).json
    const headers = { authorization: `Bearer ${made.token}` }
    const open = async () => {
      const { body } = await app.request(`${w.path}/archive`, { headers })
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      return reader
    }
    const [soon, late] = [await open(), await open()]
    await root.delete(`/v1/tokens/${made.token_id}`)
    await soon.read()
    clock.advance(60_000)
    await expect(late.read()).rejects.toThrow('revoked')
  })

  it('bytes that are gone are an error, not a shorter archive', async () => {
    const { root, ports } = await testApi()
    const w = await makeRun(root, 'a')
    for await (const { key } of ports.objects.list('')) await ports.objects.remove([key])
    expect((await root.get(`${w.path}/archive`)).json).toMatchObject({
      code: 'internal',
      offset: 0,
      length: w.tail,
    })
    expect((await root.get(`${w.path}/records`, LINES)).status).toBe(500)
  })
})

describe('reading', () => {
  it('records come as pages and as lines, the same items', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    await root.append('a', w.tail, 1, join(frame('not json'), checkpoint(4)))
    const page = (await root.get(`${w.path}/records?limit=2`)).json
    const rest = (await root.get(`${w.path}/records?limit=9&cursor=${page.next_cursor}`)).json
    expect(rest.next_cursor).toBeNull()
    const all = [...page.items, ...rest.items].map((item) => [item.seq, item.kind])
    expect(all).toEqual([
      [0, 'Header'],
      [1, 'ContextCheckpoint'],
      [2, 'ContextCheckpoint'],
      [3, null],
      [4, 'ContextCheckpoint'],
    ])
    const streamed = await root.get(`${w.path}/records`, LINES)
    expect(streamed.headers.get('content-type')).toBe('application/x-ndjson')
    expect(lines(streamed).map((item) => [item.seq, item.kind])).toEqual(all)
  })

  it('a limit does not go with lines, which give everything', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    for (const path of ['records', 'points']) {
      expect((await root.get(`${w.path}/${path}?limit=1`, LINES)).json).toMatchObject({
        issues: [{ path: 'limit' }],
      })
    }
  })

  it('digits are exact in every answer', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const big = '18446744073709551615'
    await root.append(
      'a',
      w.tail,
      1,
      frame(`{"ToolCallDone":{"iteration":${big},"call_id":"c","result":"r","at":-9223372036854775808}}`),
    )
    const { text } = await root.get(`${w.path}/records?from=3`)
    expect(text).toContain(big)
    expect(text).toContain('"at":-9223372036854775808')
  })

  it('wait_s waits for a first item and is answered when it comes', async () => {
    const waiting: { append?: () => Promise<unknown> } = {}
    const { root, clock } = await testApi()
    const w = await makeRun(root, 'a')
    const sleep = clock.sleep.bind(clock)
    let naps = 0
    clock.sleep = async (ms, signal) => {
      if (++naps === 3) await waiting.append?.()
      return sleep(ms, signal)
    }
    waiting.append = () => root.append('a', w.tail, 1, checkpoint(7))
    const answer = await root.get(`${w.path}/records?from=3&wait_s=20`)
    expect(answer.json.items.map((item: { seq: number }) => item.seq)).toEqual([3])
    expect(naps).toBe(3)
  })

  it('wait_s gives up in time, and at once when the server is about to end', async () => {
    const { root, clock } = await testApi()
    const w = await makeRun(root, 'a')
    const before = clock.now()
    expect((await root.get(`${w.path}/records?from=3&wait_s=2`)).json).toEqual({
      items: [],
      next_cursor: null,
    })
    expect(clock.now() - before).toBe(2000)
    const ending = await testApi({ closing: AbortSignal.abort() })
    await makeRun(ending.root, 'a')
    const then = ending.clock.now()
    await ending.root.get('/v1/runs/a/records?from=3&wait_s=20')
    expect(ending.clock.now()).toBe(then)
  })

  it('a fold has a tag that holds while its state does', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const tagOf = async (query = '') =>
      (await root.get(`${w.path}/fold${query}`)).headers.get('etag') as string
    const [now, past] = [await tagOf(), await tagOf('?seq=2')]
    const status = async (tag: string, query = '') =>
      (await root.get(`${w.path}/fold${query}`, { 'if-none-match': tag })).status
    expect([await status(now), await status(past, '?seq=2'), await status('*')]).toEqual([304, 304, 304])
    expect(await status(now, '?parts=meta')).toBe(200)
    await root.append('a', w.tail, 1, checkpoint(9))
    expect([await status(now), await status(past, '?seq=2')]).toEqual([200, 304])
  })

  it('points, one point and a diff', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const entries = async (query: string) =>
      (await root.get(`${w.path}/points${query}`)).json.items.map(
        (item: { regions: { entries: number }[] }) => item.regions[0]?.entries,
      )
    expect(await entries('')).toEqual([1, 2])
    expect(await entries('?order=desc')).toEqual([2, 1])
    expect(lines(await root.get(`${w.path}/points`, LINES)).map((point) => point.point)).toEqual([0, 1])
    expect((await root.get(`${w.path}/points/1`)).json.context.regions[0].entries).toHaveLength(2)
    for (const [n, status] of [
      ['2', 404],
      ['-1', 400],
      ['x', 400],
      ['1.5', 400],
    ] as const) {
      expect((await root.get(`${w.path}/points/${n}`)).status).toBe(status)
    }
    expect((await root.get(`${w.path}/diff?from=0&to=1`)).json.delta.regions).toHaveLength(1)
  })

  it('verify takes an empty body, none, and nothing else', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    expect((await root.post(`${w.path}/verify`, {})).json).toMatchObject({
      ok: true,
      bytes: w.tail,
      frames: 3,
    })
    expect((await root.send('POST', `${w.path}/verify?from=0&to=6`)).json).toMatchObject({
      ok: true,
      bytes: 6,
    })
    expect((await root.post(`${w.path}/verify`, { from: 0 })).status).toBe(400)
  })

  it('an answer over a megabyte is streamed, and is the same', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    await root.append('a', w.tail, 1, checkpoint(9, Array(3000).fill('x'.repeat(1000))))
    const answer = await root.get(`${w.path}/fold`)
    expect(answer.headers.get('content-length')).toBeNull()
    expect(answer.json.folded.context.regions[0].entries).toHaveLength(3000)
    expect((await root.head(`${w.path}/fold`)).text).toBe('')
  })
})
