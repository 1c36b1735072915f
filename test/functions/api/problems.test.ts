import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { type Answer, checkpoint, header, join, makeRun, owner, PREAMBLE, testApi } from './api-kit.ts'

/** An error as API.md spells it. */
function expectProblem(answer: Answer, status: number, code: string, facts: object = {}) {
  expect(answer.json).toMatchObject({ code, status, type: `urn:runfold:problem:${code}`, ...facts })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.json.request_id).toBe(answer.headers.get('runfold-request-id'))
  for (const member of ['title', 'detail']) expect(answer.json[member]).toMatch(/\S/)
}

const other = { machine_id: 'm-2', world_id: 'w-2' }

describe('every problem of the contract', () => {
  it('bad_request lists what to fix', async () => {
    const { root } = await testApi()
    expectProblem(await root.get('/v1/runs?limit=0&surprise=1'), 400, 'bad_request', {
      issues: [
        { path: 'limit', message: 'an integer from 1 to 200' },
        { path: 'surprise', message: 'is not known here' },
      ],
    })
    expectProblem(await root.get('/v1/runs/r/diff?from=0'), 400, 'bad_request', {
      issues: [{ path: 'to', message: 'is missing' }],
    })
    expectProblem(await root.get('/v1/runs?since=2026-11-30'), 400, 'bad_request', {
      issues: [{ path: 'since', message: expect.stringContaining('RFC 3339') }],
    })
  })

  it('unauthorized asks for a Bearer token', async () => {
    const { as } = await testApi()
    const answer = await as(null).get('/v1/runs')
    expectProblem(answer, 401, 'unauthorized')
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="runfold"')
  })

  it('forbidden names the scope', async () => {
    const { withScopes } = await testApi()
    const answer = await (await withScopes('append')).get('/v1/runs')
    expectProblem(answer, 403, 'forbidden', { scope: 'read' })
    expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="read"')
  })

  it('not_found, for routes and for runs', async () => {
    const { root } = await testApi()
    for (const path of [
      '/',
      '/v1',
      '/v2/runs',
      '/v1/nothing',
      '/v1/runs/none',
      '/v1/runs/none/archive',
      '/v1/runs/none/x',
    ]) {
      expectProblem(await root.get(path), 404, 'not_found')
    }
    expectProblem(await root.append('none', 0, 1, PREAMBLE), 404, 'not_found')
    expectProblem(await root.delete('/v1/tokens/none'), 404, 'not_found')
  })

  it('method_not_allowed says what is', async () => {
    const { root } = await testApi()
    const allowed = {
      PATCH: '/v1/runs/a',
      PUT: '/v1/runs/a/frames',
      DELETE: '/v1/runs/a/archive',
      POST: '/v1/health',
    }
    for (const [method, path] of Object.entries(allowed)) {
      expectProblem(await root.send(method, path), 405, 'method_not_allowed')
    }
    expect((await root.send('PATCH', '/v1/runs/a')).headers.get('allow')).toBe('DELETE, GET, HEAD')
    expect((await root.send('OPTIONS', '/v1/runs/a/lease')).headers.get('allow')).toBe(
      'DELETE, GET, HEAD, POST, PUT',
    )
  })

  it('offset_conflict, overlap and gap tell where the archive ends', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const facts = { tail: w.tail, digest: w.ack.json.digest, epoch: w.epoch }
    const last = checkpoint(3, ['a', 'b'])
    const at = w.tail - last.length
    expectProblem(
      await root.append('a', at, w.epoch, checkpoint(3, ['a', 'c'])),
      409,
      'offset_conflict',
      facts,
    )
    expectProblem(await root.append('a', at, w.epoch, join(last, last)), 409, 'overlap', facts)
    expectProblem(await root.append('a', w.tail + 1, w.epoch, last), 409, 'gap', facts)
  })

  it('lease_held tells by whom and how long', async () => {
    const { root } = await testApi()
    await root.post('/v1/runs/a/lease', owner)
    const facts = { lease: owner, epoch: 1, retry_after_s: 60 }
    expectProblem(await root.post('/v1/runs/a/lease', other), 409, 'lease_held', facts)
    expectProblem(await root.delete('/v1/runs/a'), 409, 'lease_held')
  })

  it('fenced tells who has the run and whether the last batch landed', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const { epoch } = (await root.post('/v1/runs/a/lease', { ...other, force: true })).json
    const facts = { epoch, lease: other, tail: w.tail, digest: w.ack.json.digest }
    expectProblem(await root.append('a', w.tail, w.epoch, checkpoint(4)), 412, 'fenced', facts)
    expectProblem(await root.put('/v1/runs/a/lease', { epoch: w.epoch }), 412, 'fenced', facts)
    expectProblem(await root.delete(`/v1/runs/a/lease?epoch=${w.epoch}`), 412, 'fenced', facts)
  })

  it('too_large names the limits', async () => {
    const { root } = await testApi({
      limits: {
        max_batch_bytes: 1000,
        max_frame_bytes: 2000,
        lease_ttl_s: { min: 5, default: 60, max: 100 },
        page_max: 200,
      },
    })
    await root.post('/v1/runs/a/lease', owner)
    const facts = { max_batch_bytes: 1000, max_frame_bytes: 2000 }
    expectProblem(await root.append('a', 0, 1, new Uint8Array(1001)), 413, 'too_large', facts)
    expectProblem(
      await root.post('/v1/runs/a/lease', { ...owner, requires: Array(30_000).fill('capability') }),
      413,
      'too_large',
    )
  })

  it('unsupported_media_type says what is taken', async () => {
    const { root } = await testApi()
    const types = ['application/vnd.runfold.lvr1', 'application/octet-stream']
    const json = { 'content-type': 'application/json' }
    expectProblem(await root.append('a', 0, 1, PREAMBLE, json), 415, 'unsupported_media_type', {
      accepted: types,
    })
    const br = { 'content-encoding': 'br' }
    expectProblem(await root.append('a', 0, 1, PREAMBLE, br), 415, 'unsupported_media_type', {
      accepted: ['gzip', 'zstd'],
    })
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=1' }
    const accepted = ['application/json']
    expectProblem(await root.send('POST', '/v1/runs/a/lease', form), 415, 'unsupported_media_type', {
      accepted,
    })
  })

  it('range_not_satisfiable tells the tail', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const answer = await root.get(`${w.path}/archive`, { range: `bytes=${w.tail}-` })
    expectProblem(answer, 416, 'range_not_satisfiable', { tail: w.tail })
    expect(answer.headers.get('content-range')).toBe(`bytes */${w.tail}`)
    for (const path of ['fold?seq=9', 'fold?point=2', 'diff?from=0&to=2']) {
      expectProblem(await root.get(`${w.path}/${path}`), 416, 'range_not_satisfiable', { tail: w.tail })
    }
  })

  it('bad_frames tells where and why', async () => {
    const { root } = await testApi()
    await root.post('/v1/runs/a/lease', owner)
    const torn = join(PREAMBLE, header('a').subarray(0, -1))
    expectProblem(await root.append('a', 0, 1, torn), 422, 'bad_frames', {
      offset: 6,
      frame: 0,
      reason: 'torn_frame',
    })
    expectProblem(await root.append('a', 0, 1, new Uint8Array(0)), 422, 'bad_frames', {
      reason: 'empty_batch',
    })
    await root.append('a', 0, 1, join(PREAMBLE, checkpoint(1)))
    expectProblem(await root.get('/v1/runs/a/fold'), 422, 'bad_frames', { reason: 'no_header' })
  })

  it('slow_down and unavailable say when to come again, in the facts and in the header', async () => {
    for (const code of ['slow_down', 'unavailable'] as const) {
      const { app, root } = await testApi()
      app.get('/v1/broken', () => {
        throw new RunfoldError(code, 'later', code === 'slow_down' ? { retry_after_s: 2.5 } : {})
      })
      const answer = await root.get('/v1/broken')
      expectProblem(answer, 503, code)
      expect(Number(answer.json.retry_after_s)).toBe(code === 'slow_down' ? 2.5 : 1)
      expect(answer.headers.get('retry-after')).toBe(code === 'slow_down' ? '3' : '1')
    }
  })

  it('internal tells nothing of what was thrown; the observer gets it', async () => {
    const { app, root, events } = await testApi()
    const cause = new Error('a secret detail')
    app.get('/v1/broken', () => {
      throw cause
    })
    const answer = await root.get('/v1/broken')
    expectProblem(answer, 500, 'internal')
    expect(answer.text).not.toContain('secret detail')
    expect(events.at(-1)).toMatchObject({ status: 500, code: 'internal', cause })
  })

  it('facts never cover the members every problem has', async () => {
    const { app, root } = await testApi()
    app.get('/v1/broken', () => {
      throw new RunfoldError('gap', 'true', {
        status: 200,
        detail: 'false',
        code: 'x',
        request_id: 'x',
        title: 'x',
      })
    })
    expectProblem(await root.get('/v1/broken'), 409, 'gap', { detail: 'true' })
  })
})
