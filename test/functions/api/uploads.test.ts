import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { frame, join, makeRun, PREAMBLE, type TestClient, testApi } from './api-kit.ts'

const MIB = 1 << 20
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const big = (bytes: number) =>
  frame(`{"Message":{"message":{"role":"tool","content":"${'x'.repeat(bytes)}"},"at":4}}`)

const offering = () => testApi({ features: ['uploads'] })
type Run = Awaited<ReturnType<typeof makeRun>>

const open = (client: TestClient, run: Run, bytes: Uint8Array, more: object = {}) =>
  client.post(`${run.path}/uploads`, {
    epoch: run.epoch,
    offset: run.tail,
    length: bytes.length,
    sha256: sha256(bytes),
    ...more,
  })

interface Opened {
  readonly upload_id: string
  readonly parts: readonly { part_number: number; url: string; start: number; end: number }[]
}

/** PUTs every part by its URL alone, as whoever was given it can. */
const putParts = async (nobody: TestClient, { parts }: Opened, bytes: Uint8Array) => {
  const stored = []
  for (const { part_number, url, start, end } of parts) {
    const { status, headers } = await nobody.send('PUT', url, { body: bytes.subarray(start, end) })
    expect(status).toBe(200)
    stored.push({ part_number, etag: headers.get('etag') })
  }
  return stored
}

describe('uploads', () => {
  it('take a batch over the limit in parts, and answer as an append does', async () => {
    const { root, as } = await offering()
    const run = await makeRun(root, 'r')
    const bytes = big(11 * MIB)
    expect((await root.append('r', run.tail, run.epoch, bytes)).json).toMatchObject({
      code: 'too_large',
      uploads: '/v1/runs/r/uploads',
    })
    const opened = await open(root, run, bytes)
    expect(opened.status).toBe(201)
    expect(opened.json.parts.map((part: { start: number }) => part.start)).toEqual([0, 5 * MIB, 10 * MIB])
    const parts = await putParts(as(null), opened.json, bytes)
    const path = `${run.path}/uploads/${opened.json.upload_id}/complete`
    const done = await root.post(path, { parts })
    expect(done).toMatchObject({ status: 200 })
    const digest = sha256(join(run.bytes, bytes))
    expect(done.json).toMatchObject({ tail: run.tail + bytes.length, frames: 4, replayed: false, digest })
    expect((await root.post(path, { parts })).json).toMatchObject({ replayed: true, digest })
    expect((await root.head(`${run.path}/archive`)).headers.get('etag')).toBe(`"${digest}"`)
  })

  it('are aborted once or many times, and then cannot be completed', async () => {
    const { root, as } = await offering()
    const run = await makeRun(root, 'r')
    const bytes = frame('{}')
    const { json } = await open(root, run, bytes)
    const parts = await putParts(as(null), json, bytes)
    const path = `${run.path}/uploads/${json.upload_id}`
    for (let i = 0; i < 2; i++) expect((await root.delete(path)).status).toBe(204)
    expect((await root.post(`${path}/complete`, { parts })).json).toMatchObject({ code: 'not_found' })
    expect((await as(null).send('PUT', json.parts[0].url, { body: bytes })).status).toBe(404)
  })

  it.each([
    ['no length', { length: undefined }],
    ['a length of nothing', { length: 0 }],
    ['a length that is a fraction', { length: 1.5 }],
    ['a length that is a text', { length: '5' }],
    ['a digest in capitals', { sha256: 'A'.repeat(64) }],
    ['an offset below zero', { offset: -1 }],
    ['a member too many', { parts: 3 }],
  ])('with %s are malformed', async (_, more) => {
    const { root } = await offering()
    const run = await makeRun(root, 'r')
    expect(await open(root, run, frame('{}'), more)).toMatchObject({ status: 400 })
  })

  it.each([
    ['no parts', { parts: [] }],
    ['a part without its ETag', { parts: [{ part_number: 1 }] }],
    ['a part number of zero', { parts: [{ part_number: 0, etag: 'x' }] }],
    ['parts that are none', { parts: 'all' }],
  ])('are not completed with %s', async (_, body) => {
    const { root } = await offering()
    const run = await makeRun(root, 'r')
    const { json } = await open(root, run, frame('{}'))
    expect(await root.post(`${run.path}/uploads/${json.upload_id}/complete`, body)).toMatchObject({
      status: 400,
    })
  })

  it('need the scope append, and a token of the run’s own tenant', async () => {
    const { root, as, withScopes, token } = await offering()
    const run = await makeRun(root, 'r')
    const reader = await withScopes('read', 'resume', 'admin')
    expect((await open(reader, run, frame('{}'))).status).toBe(403)
    expect((await open(as(null), run, frame('{}'))).status).toBe(401)
    const elsewhere = as((await token(['append'], { tenant: 'other' })).token)
    expect((await open(elsewhere, run, frame('{}'))).status).toBe(404)
    const bound = as((await token(['append'], { run_prefix: 'else' })).token)
    expect((await open(bound, run, frame('{}'))).status).toBe(403)
  })

  it('have URLs that say what is wrong with them before a byte of the body is read', async () => {
    const { app, root, as, clock } = await offering()
    const run = await makeRun(root, 'r')
    const bytes = frame('{}')
    const { json } = await open(root, run, bytes)
    const { url } = json.parts[0]
    const put = async (to: string, body: unknown = bytes) => {
      const answer = await as(null).send('PUT', to, { body })
      return answer.status === 200 ? 200 : answer.json.code
    }
    let pulled = 0
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 })
    const forged = `http://127.0.0.1${url.replace(/signature=.*/, `signature=${'0'.repeat(64)}`)}`
    const refused = await app.request(
      new Request(forged, { method: 'PUT', body, duplex: 'half' } as RequestInit),
    )
    expect([refused.status, pulled]).toEqual([403, 0])

    expect(await put(url.replace('/1?', '/2?'))).toBe('forbidden')
    expect(await put(url.replace('/1?', '/x?'))).toBe('bad_request')
    expect(await put(url.replace(/&signature=.*/, ''))).toBe('bad_request')
    expect(await put(url, join(bytes, bytes))).toBe('bad_request')
    expect(await put(url, new Uint8Array(9 * MIB))).toBe('too_large')
    expect(await put(url)).toBe(200)
    clock.advance(15 * 60_000)
    expect(await put(url)).toBe('forbidden')
  })

  it('are no route of a server that does not offer them', async () => {
    const { root } = await testApi()
    const run = await makeRun(root, 'r')
    expect((await open(root, run, PREAMBLE)).status).toBe(404)
    expect(
      (await root.send('PUT', `/v1/parts/x/1?length=1&expires=1&signature=${'0'.repeat(64)}`)).status,
    ).toBe(404)
  })
})
