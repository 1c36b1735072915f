import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createArchive } from '#store'
import { memoryPorts } from '#store/memory'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'
import { type SteppedClock, steppedClock } from '../../kit/stepped-clock.ts'
import { checkpoint, header, join, makeRun, PREAMBLE, SECRET, testApi } from './api-kit.ts'

let clock: SteppedClock
let api: Awaited<ReturnType<typeof testApi>>
let closing: AbortController
let open: (() => Promise<void>)[] = []

beforeEach(async () => {
  clock = steppedClock()
  closing = new AbortController()
  const archive = createArchive(memoryPorts(clock), { clock, limits: LOCAL_LIMITS })
  api = await testApi({ archive, clock, features: ['events'], closing: closing.signal })
})
afterEach(async () => {
  for (const close of open) void close()
  open = []
  await clock.advance(500)
})

/** Opens a stream and reads it as fast as it comes. */
async function follow(path: string, headers: Record<string, string> = {}, token?: string) {
  const { token: made } = token ? { token } : await api.token(['read'])
  const init = { headers: { authorization: `Bearer ${made}`, ...headers } }
  const response = await api.app.request(`http://127.0.0.1${path}`, init, { answerMs: 300_000 })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const stream = { response, text: '', state: 'open', reader }
  void (async () => {
    const decoder = new TextDecoder()
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      stream.text += decoder.decode(next.value, { stream: true })
    }
    stream.state = 'ended'
  })().catch(() => {
    stream.state = 'broken off'
  })
  open.push(() => reader.cancel().catch(() => {}))
  await clock.advance(0)
  return stream
}

const ids = (text: string) =>
  [...text.matchAll(/^event: record\nid: (\d+)\ndata: (.*)$/gm)].map(([, id]) => Number(id))

describe('events', () => {
  it('are the records from an offset on, redacted, and those that come', async () => {
    const { path, bytes, tail, epoch } = await makeRun(api.root, 'run')
    const stream = await follow(`${path}/events?offset=0`)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    const past = [PREAMBLE.length + header('run').length, tail - checkpoint(3, ['a', 'b']).length, tail]
    expect(ids(stream.text)).toEqual(past)
    expect(new TextDecoder().decode(bytes)).toContain(SECRET)
    expect(stream.text).not.toContain(SECRET)
    const more = checkpoint(4)
    await api.root.append('run', tail, epoch, more)
    await clock.advance(500)
    expect(ids(stream.text)).toEqual([...past, tail + more.length])
    const data = JSON.parse(/data: (\{"seq":3.*)\n/.exec(stream.text)?.[1] as string)
    const listed = (await api.root.get(`${path}/records?from=3`)).json.items[0]
    expect(data).toEqual(listed)
  })

  it('begin at the tail, and say where that is for whoever is cut off before the first', async () => {
    const { path, tail } = await makeRun(api.root, 'run')
    const stream = await follow(`${path}/events`)
    expect(stream.text).toBe(`retry: 1000\nid: ${tail}\n\n`)
  })

  it('of an empty run can be gone on with from the id it gives', async () => {
    const { epoch } = (await api.root.post('/v1/runs/empty/lease', { machine_id: 'm', world_id: 'w' })).json
    const first = await follow('/v1/runs/empty/events')
    expect(first.text).toContain('id: 0\n')
    const second = await follow('/v1/runs/empty/events', { 'last-event-id': '0' })
    await api.root.append('empty', 0, epoch, join(PREAMBLE, header('empty')))
    await clock.advance(500)
    expect(ids(first.text)).toHaveLength(1)
    expect(ids(second.text)).toEqual(ids(first.text))
  })

  it.each([
    ['1', 'offset'],
    ['7', 'offset'],
    ['99999', 'offset'],
  ])('refuse offset %s', async (offset) => {
    const { path } = await makeRun(api.root, 'run')
    const answer = await api.root.get(`${path}/events?offset=${offset}`)
    expect(answer.json).toMatchObject({ status: 400, code: 'bad_request', issues: [{ path: 'offset' }] })
  })

  it.each(['7', '', 'x', '-1', '9007199254740992'])(
    'refuse Last-Event-ID "%s", whatever the offset',
    async (id) => {
      const { path } = await makeRun(api.root, 'run')
      const answer = await api.root.get(`${path}/events?offset=0`, { 'last-event-id': id })
      expect(answer.json).toMatchObject({ status: 400, issues: [{ path: 'Last-Event-ID' }] })
    },
  )

  it('have a comment at least every 15 s', async () => {
    const { path } = await makeRun(api.root, 'run')
    const stream = await follow(`${path}/events`)
    for (let n = 1; n <= 4; n++) {
      await clock.advance(15_000)
      expect(stream.text.match(/^:$/gm)?.length ?? 0).toBeGreaterThanOrEqual(n)
    }
  })

  it('ask for another connection before the platform cuts this one', async () => {
    const { path } = await makeRun(api.root, 'run')
    const stream = await follow(`${path}/events`)
    await clock.advance(280_000)
    expect(stream.state).toBe('open')
    await clock.advance(10_000)
    expect(stream.text).toMatch(/event: reconnect\ndata: \{\}\n\n$/)
    expect(stream.state).toBe('ended')
  })

  it('ask for another connection when the process is about to end', async () => {
    const { path } = await makeRun(api.root, 'run')
    const stream = await follow(`${path}/events`)
    closing.abort()
    await clock.advance(500)
    expect(stream.text).toMatch(/event: reconnect\ndata: \{\}\n\n$/)
    expect(stream.state).toBe('ended')
  })

  it('end with the run', async () => {
    const { path } = await makeRun(api.root, 'run')
    const stream = await follow(`${path}/events`)
    await api.root.delete(`${path}?force=true`)
    await clock.advance(500)
    expect(stream.state).toBe('ended')
    expect(stream.text).not.toContain('reconnect')
  })

  it('are broken off within a minute of a revocation', async () => {
    const { path } = await makeRun(api.root, 'run')
    const { token, token_id } = await api.token(['read'])
    const stream = await follow(`${path}/events`, {}, token)
    await api.root.delete(`/v1/tokens/${token_id}`)
    api.clock.advance(30_000)
    await clock.advance(30_000)
    expect(stream.state).toBe('broken off')
  })

  it('let go of the run when their reader leaves', async () => {
    const { path } = await makeRun(api.root, 'run')
    const stream = await follow(`${path}/events`)
    void stream.reader.cancel()
    await clock.advance(1000)
    expect(clock.sleeping).toBe(0)
  })

  it('cut off a reader that takes nothing for a minute', async () => {
    const { path } = await makeRun(api.root, 'run')
    const { token } = await api.token(['read'])
    const response = await api.app.request(`http://127.0.0.1${path}/events?offset=0`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await clock.advance(59_000)
    expect(clock.sleeping).toBe(1)
    await clock.advance(1000)
    expect(clock.sleeping).toBe(0)
    await expect(reader.read()).rejects.toThrow('nothing was taken for 60 s')
  })

  it('are bounded in number, and give their place back however they end', async () => {
    const { path } = await makeRun(api.root, 'run')
    const { token } = await api.token(['read'])
    const ask = () =>
      api.app.request(`http://127.0.0.1${path}/events`, { headers: { authorization: `Bearer ${token}` } })
    const all = await Promise.all(Array.from({ length: 1500 }, ask))
    expect((await ask()).status).toBe(503)
    await all.pop()?.body?.cancel() // before anything was read
    expect((await api.root.head(`${path}/events`)).status).toBe(200)
    const last = await ask()
    expect(last.status).toBe(200)
    expect((await ask()).status).toBe(503)
    await clock.advance(60_000) // nobody takes anything
    const again = await Promise.all(Array.from({ length: 1500 }, ask))
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]))
    await clock.advance(60_000)
    expect(clock.sleeping).toBe(0)
  })

  it('answer HEAD without beginning to follow', async () => {
    const { path } = await makeRun(api.root, 'run')
    const answer = await api.root.head(`${path}/events`)
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(clock.sleeping).toBe(0)
  })
})
