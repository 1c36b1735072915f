import { describe, expect, it } from 'vitest'
import { pause } from '#client'
import { lostAnswer, lostRequest, type Mishap, refused, startServer } from './kit.ts'

const WORKER = { machine_id: 'm', world_id: 'w' }

describe('what is sent again', () => {
  it('repeats a request after 503 and waits as long as Retry-After asks', async () => {
    const { client, mishaps, pauses, requests } = await startServer()
    mishaps.push(refused(503, 'slow_down', {}, { 'retry-after': '7' }))
    await expect(client.list()).resolves.toMatchObject({ items: [] })
    expect(requests).toHaveLength(2)
    expect(pauses[0]).toBeGreaterThan(6900)
  })

  it('repeats a request whose connection broke', async () => {
    const { client, mishaps } = await startServer()
    mishaps.push(lostRequest, lostRequest)
    await expect(client.health()).resolves.toEqual({ status: 'ok' })
  })

  it('says unavailable, with the reason, when no answer ever comes', async () => {
    const { client, mishaps, requests } = await startServer()
    mishaps.push(...Array.from({ length: 20 }, () => lostRequest))
    await expect(client.health()).rejects.toMatchObject({
      code: 'unavailable',
      facts: { reason: 'ECONNREFUSED' },
    })
    expect(requests).toHaveLength(7)
  })

  it('never repeats a refusal that repeating cannot mend', async () => {
    const { client, mishaps, requests } = await startServer()
    mishaps.push(refused(412, 'fenced', { epoch: 9, tail: 6 }))
    const failure = client.append('r', { offset: 0, epoch: 1, bytes: new Uint8Array(6) })
    await expect(failure).rejects.toMatchObject({
      code: 'fenced',
      facts: { epoch: 9, tail: 6, request_id: 'r' },
    })
    expect(requests).toHaveLength(1)
  })

  it('does not make a second token when the answer to the first request was lost', async () => {
    const { client, mishaps } = await startServer()
    mishaps.push(lostAnswer)
    await expect(client.makeToken({ name: 'ci', scopes: ['read'] })).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect((await client.tokens()).items.filter(({ name }) => name === 'ci')).toHaveLength(1)
  })

  it('takes a removal for done when its answer was lost and the repetition finds nothing', async () => {
    const { client, mishaps } = await startServer()
    const { epoch } = await client.acquire('r', WORKER)
    mishaps.push(lostAnswer)
    await expect(client.release('r', epoch)).resolves.toBeUndefined()
    mishaps.push(lostAnswer)
    await expect(client.remove('r')).resolves.toBeUndefined()
    await expect(client.remove('r')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('keeps the epoch when the answer to an acquire was lost', async () => {
    const { client, mishaps } = await startServer()
    mishaps.push(lostAnswer)
    const first = await client.acquire('r', WORKER)
    expect((await client.acquire('r', WORKER)).epoch).toBe(first.epoch)
    expect((await client.leaseState('r')).history).toHaveLength(1)
  })

  it('stops at once when the caller cancels', async () => {
    const { client, requests } = await startServer()
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    await expect(client.release('r', 1, stop.signal)).rejects.toThrow('enough')
    expect(requests).toEqual([])
  })

  it('waits for nothing when the caller cancelled before the pause', async () => {
    await expect(pause(60_000, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })
})

describe('answers that are not a runfold server’s', () => {
  const page = (status: number) => async () =>
    new Response('<html>', { status, headers: { 'content-type': 'text/html' } })

  it('repeats while a gateway is busy', async () => {
    const { client, mishaps } = await startServer()
    mishaps.push(page(502), page(429))
    await expect(client.health()).resolves.toEqual({ status: 'ok' })
  })

  it('does not take a foreign 404 for a run that is not there', async () => {
    const { client, mishaps, requests } = await startServer()
    mishaps.push(page(404))
    await expect(client.run('r')).rejects.toMatchObject({ code: 'internal', facts: { http_status: 404 } })
    expect(requests).toHaveLength(1)
  })

  it('follows no redirection of what it sends, which would ask for something else', async () => {
    const { client, mishaps } = await startServer()
    await client.acquire('r', WORKER)
    const elsewhere: Mishap = async (request, answer) => {
      if (request.redirect === 'follow') return answer()
      return new Response(null, { status: 301, headers: { location: 'https://elsewhere.example/' } })
    }
    mishaps.push(elsewhere, elsewhere)
    const message = expect.stringContaining('https://elsewhere.example/')
    const refused = { code: 'internal', message, facts: { http_status: 301, foreign: true } }
    await expect(client.renew('r', { epoch: 1 })).rejects.toMatchObject(refused)
    expect((await client.tail('r')).epoch).toBe(1)
  })

  it('refuses an answer of another shape', async () => {
    const { client, mishaps } = await startServer()
    mishaps.push(async () => Response.json({ status: 'fine' }))
    await expect(client.health()).rejects.toMatchObject({ code: 'internal' })
  })

  it('never lets a name be tidied into another route', async () => {
    const { client, requests } = await startServer()
    await expect(client.remove('..')).rejects.toMatchObject({ code: 'bad_request' })
    expect(requests).toEqual([])
    await expect(client.run('a/b')).rejects.toMatchObject({ code: 'bad_request' })
  })
})
