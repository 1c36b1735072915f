import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeFrame } from '#codec'
import { cutBatch } from '../../../shared/client/batch.ts'
import { ndjson } from '../../../shared/client/lines.ts'

const chunksOf = (bytes: Uint8Array, cuts: readonly number[]) => {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end))
}

const bodyOf = (chunks: readonly Uint8Array[]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk)
        controller.close()
      },
    }),
  )

describe('lines of JSON', () => {
  it('are the same however the network cuts them', async () => {
    const values = fc.array(
      fc.oneof(fc.string(), fc.integer(), fc.record({ a: fc.string({ unit: 'grapheme' }) })),
    )
    await fc.assert(
      fc.asyncProperty(values, fc.array(fc.nat(500), { maxLength: 9 }), async (items, cuts) => {
        const text = items.map((item) => `${JSON.stringify(item)}\n`).join('')
        const found: unknown[] = []
        for await (const value of ndjson(bodyOf(chunksOf(Buffer.from(text), cuts)))) found.push(value)
        expect(JSON.stringify(found)).toBe(JSON.stringify(items))
      }),
      { numRuns: 200 },
    )
  })

  it('that break off are an error, whole lines before them are not lost', async () => {
    const lines = ndjson(bodyOf([Buffer.from('1\n2')]))
    expect((await lines.next()).value).toBe(1)
    await expect(lines.next()).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('where a batch may be cut', () => {
  const frame = encodeFrame(Buffer.from('{"a":1}'))
  const prefix = (...bytes: number[]) => Buffer.from(bytes)

  it.each([
    ['nothing', Buffer.alloc(0), 0, { whole: 0, next: undefined }],
    ['a preamble', Buffer.alloc(6), 6, { whole: 6, next: undefined }],
    ['two frames', Buffer.concat([frame, frame]), 0, { whole: 30, next: undefined }],
    [
      'a frame and part of a prefix',
      Buffer.concat([frame, frame.subarray(0, 7)]),
      0,
      { whole: 15, next: undefined },
    ],
    ['a frame and a prefix', Buffer.concat([frame, frame.subarray(0, 8)]), 0, { whole: 15, next: 15 }],
    ['an empty frame', Buffer.alloc(8), 0, { whole: 8, next: undefined }],
    ['a length over 2^32', prefix(0, 0, 0, 1, 0, 0, 0, 0), 0, { whole: 0, next: 2 ** 32 + 8 }],
    ['an absurd length', prefix(255, 255, 255, 255, 255, 255, 255, 255), 0, { whole: 0, next: 2 ** 64 }],
  ])('%s', (_, piece, skip, cut) => {
    expect(cutBatch(piece, skip)).toEqual(cut)
  })
})
