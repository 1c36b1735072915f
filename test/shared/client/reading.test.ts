import { describe, expect, it } from 'vitest'
import { encodeFrame, jsonText, PREAMBLE } from '#codec'
import { plainHeader } from '../../kit/plain-header.ts'
import { type Server, startServer } from './kit.ts'

const RUN = 'r'
const BIG = '18446744073709551615'

const checkpoint = (at: number) =>
  `{"ContextCheckpoint":{"snapshot":{"stage_name":"s","total_tokens":${BIG},"max_tokens":9,"regions":[{"name":"r","kind":"k","current_tokens":1,"max_tokens":9,"entries":[{"content":"\u00e9","tokens":1,"kind":{"type":"Text"},"metadata":{"x":1.0},"taint":"Internal"}]}]},"at":${at}}}`

const withRun = async (): Promise<Server> => {
  const server = await startServer()
  const { epoch } = await server.client.acquire(RUN, { machine_id: 'm', world_id: 'w' })
  const payloads = [JSON.stringify(plainHeader()), checkpoint(1), checkpoint(2), checkpoint(3)]
  const bytes = Buffer.concat([PREAMBLE, ...payloads.map((text) => encodeFrame(Buffer.from(text)))])
  await server.client.append(RUN, { offset: 0, epoch, bytes })
  return server
}

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

describe('reading a run', () => {
  it('keeps every digit', async () => {
    const { client } = await withRun()
    const text = jsonText(await client.fold(RUN))
    expect(text).toContain(`"total_tokens":${BIG}`)
    expect(text).toContain('"metadata":{"x":1.0}')
  })

  it('streams records and points an item at a time', async () => {
    const { client } = await withRun()
    expect((await all(client.recordLines(RUN))).map((item) => item.kind)).toEqual([
      'Header',
      'ContextCheckpoint',
      'ContextCheckpoint',
      'ContextCheckpoint',
    ])
    expect(await all(client.recordLines(RUN, { kind: ['Header'] }))).toHaveLength(1)
    expect((await all(client.pointLines(RUN, { from: 1 }))).map((item) => item.point)).toEqual([1, 2])
  })

  it('does not take a stream that breaks off for a whole one', async () => {
    const { client, mishaps } = await withRun()
    mishaps.push(async (_, answer) => {
      const whole = new Uint8Array(await (await answer()).arrayBuffer())
      return new Response(whole.subarray(0, -9), { headers: { 'content-type': 'application/x-ndjson' } })
    })
    await expect(all(client.recordLines(RUN))).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('gives the span of bytes that was asked for', async () => {
    const { client } = await withRun()
    const { start, chunks } = await client.archive(RUN, { start: 2, end: 6 })
    expect(start).toBe(2)
    expect(Buffer.concat(await all(chunks))).toEqual(Buffer.from(PREAMBLE.subarray(2)))
  })

  it('answers the small routes', async () => {
    const { client } = await withRun()
    const { tail, digest } = await client.tail(RUN)
    expect(await client.run(RUN)).toMatchObject({ run_id: RUN, tail, digest, frames: 4, points: 3 })
    expect(await client.verify(RUN)).toMatchObject({ ok: true, bytes: tail, digest })
    expect(await client.diff(RUN, 0, 2)).toMatchObject({ from: 0, to: 2, delta: { regions: [] } })
    expect(await client.point(RUN, 2)).toMatchObject({ point: 2, context: { stage_name: 's' } })
    expect((await client.list({ q: 'zzz' })).items).toEqual([])
    expect((await client.capabilities()).format_versions).toEqual([1])
    await expect(client.point(RUN, 3)).rejects.toMatchObject({ code: 'not_found' })
  })
})
