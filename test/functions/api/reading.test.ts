import { describe, expect, it } from 'vitest'
import { type Answer, checkpoint, frame, join, makeRun, testApi } from './api-kit.ts'

const LINES = { accept: 'application/x-ndjson' }

const lines = (answer: Answer) =>
  answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

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

  it.each([
    ['application/x-ndjson;q=0', false],
    ['application/x-ndjson; q=0.000, */*', false],
    ['application/x-ndjson;q=0.1', true],
    ['text/html, Application/X-NDJSON ; q=1', true],
    ['*/*', false],
    ['application/*', false],
  ])('a caller who accepts %s gets lines: %s', async (accept, wanted) => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const { headers } = await root.get(`${w.path}/records`, { accept })
    expect(headers.get('content-type')).toBe(wanted ? 'application/x-ndjson' : 'application/json')
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

  it('a fold past the end is refused, whatever tag is shown', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    for (const [query, tag] of [
      ['seq=9', '"fold-1-seq9-012345"'],
      ['point=9', '"fold-1-point9-012345"'],
    ]) {
      const { status } = await root.get(`${w.path}/fold?${query}`, { 'if-none-match': String(tag) })
      expect([query, status]).toEqual([query, 416])
    }
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
