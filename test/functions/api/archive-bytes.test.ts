import { describe, expect, it } from 'vitest'
import { checkpoint, makeRun, testApi } from './api-kit.ts'

const latin1 = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes)

const LINES = { accept: 'application/x-ndjson' }

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
