import { describe, expect, it } from 'vitest'
import { createClient, Redacted } from '#client'
import type { RecordItem } from '#schema'
import { refused } from './kit.ts'

/** What one connection is answered with: pieces of a body, then its end, or its loss, or silence. */
interface Script {
  readonly pieces: readonly (string | Uint8Array)[]
  readonly end: 'closed' | 'lost' | 'silent'
}

const record = (id: number, more: object = {}) =>
  `event: record\nid: ${id}\ndata: ${JSON.stringify({ seq: id, offset: id - 1, length: 1, ...more })}\n\n`

/** A client of a server that answers the connections one by one; afterwards the run is gone. */
function scripted(...scripts: readonly Script[]) {
  const asked: string[] = []
  const pauses: number[] = []
  let cancelled = 0
  const send: typeof fetch = async (input, init) => {
    asked.push(String(input).replace('https://runfold.example/v1/runs/run/events?', ''))
    const script = scripts[asked.length - 1]
    if (!script) return refused(404, 'not_found')(new Request(input), async () => new Response())
    const pieces = [...script.pieces]
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift()
        if (piece !== undefined)
          controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
        else if (script.end === 'closed') controller.close()
        else if (script.end === 'lost') controller.error(new TypeError('terminated'))
        else init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason))
      },
      cancel: () => {
        cancelled++
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const client = createClient({
    url: 'https://runfold.example',
    token: new Redacted('t'),
    fetch: send,
    retry: { retries: 0, sleep: async (ms) => void pauses.push(ms) },
  })
  return { client, asked, pauses, cancelled: () => cancelled }
}

async function all(items: AsyncIterable<RecordItem>) {
  const seqs: number[] = []
  try {
    for await (const { seq } of items) seqs.push(seq)
  } catch (error) {
    return { seqs, error }
  }
  return { seqs, error: undefined }
}

describe('following a run', () => {
  it('goes on behind the last record wherever the connection ends, and stops when the run is gone', async () => {
    const { client, asked, pauses } = scripted(
      { pieces: [record(7), ': nothing\n\n', record(9)], end: 'lost' },
      { pieces: ['retry: 1000\nid: 9\n\n'], end: 'closed' },
      { pieces: [record(12), 'event: reconnect\ndata: {}\n\n'], end: 'closed' },
    )
    const { seqs, error } = await all(client.follow('run', 6))
    expect(seqs).toEqual([7, 9, 12])
    expect(asked).toEqual(['offset=6', 'offset=9', 'offset=9', 'offset=12'])
    expect(pauses).toEqual([1000, 1000]) // none where the server has asked for it
    expect(error).toMatchObject({ code: 'not_found' })
  })

  it('takes no record that did not come whole', async () => {
    const whole = record(7)
    const { client, asked } = scripted({ pieces: [whole, record(8).slice(0, -1)], end: 'lost' })
    expect((await all(client.follow('run', 6))).seqs).toEqual([7])
    expect(asked).toEqual(['offset=6', 'offset=7'])
  })

  it('reads records cut anywhere, to the last digit', async () => {
    const text = record(7, { at: 5, kind: 'é€😀' }).replace('"at":5', '"at":9007199254740993')
    const bytes = new TextEncoder().encode(text)
    const { client } = scripted({
      pieces: Array.from(bytes, (_, n) => bytes.subarray(n, n + 1)),
      end: 'closed',
    })
    const items: RecordItem[] = []
    for await (const item of client.follow('run', 6)) {
      items.push(item)
      break
    }
    expect(items).toMatchObject([{ at: 9007199254740993n, kind: 'é€😀' }])
  })

  it('gives up a connection that has gone silent', async () => {
    const { client, asked } = scripted({ pieces: [record(7)], end: 'silent' })
    expect(await all(client.follow('run', 6, 1))).toMatchObject({ seqs: [7], error: { code: 'not_found' } })
    expect(asked).toEqual(['offset=6', 'offset=7'])
  })

  it('lets the connection go when nobody wants more', async () => {
    const { client, cancelled } = scripted({ pieces: [record(7), record(8)], end: 'silent' })
    for await (const _ of client.follow('run', 6)) break
    expect(cancelled()).toBe(1)
  })
})
