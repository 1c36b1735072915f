import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { header, join, owner, PREAMBLE, testApi } from './api-kit.ts'

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
