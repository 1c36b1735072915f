import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkPreamble,
  encodeFrame,
  MAX_FRAME_BYTES,
  streamFrameBatches,
  streamFrames,
  walkFrames,
} from '#codec'
import { assertProperty } from '../../kit/arbitraries.ts'

const payloads = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 6 })
const concat = (pieces: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(pieces))
const prefix = (length: bigint) => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, length)
  return bytes
}
const refusal = (reason: string, offset: number, frame: number) =>
  expect.objectContaining({ code: 'bad_frames', facts: { reason, offset, frame } })

function* cut(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('walkFrames', () => {
  it('gives back what was framed, with its place in the archive', () => {
    assertProperty(
      fc.property(payloads, (list) => {
        const frames = [...walkFrames(concat(list.map(encodeFrame)), { offset: 106, seq: 7 })]
        expect(frames.map(({ payload }) => [...payload])).toEqual(list.map((payload) => [...payload]))
        let offset = 106
        for (const [i, frame] of frames.entries()) {
          expect(frame).toMatchObject({ seq: 7 + i, offset, length: 8 + (list[i]?.length ?? 0) })
          offset += frame.length
        }
      }),
    )
  })

  it('refuses bytes cut anywhere inside a frame, naming where that frame begins', () => {
    const first = encodeFrame(Uint8Array.of(1, 2, 3))
    const bytes = concat([first, encodeFrame(Uint8Array.of(4, 5))])
    for (let end = first.length + 1; end < bytes.length; end++) {
      expect(() => [...walkFrames(bytes.subarray(0, end), { offset: 50, seq: 9 })]).toThrow(
        refusal('torn_frame', 61, 1),
      )
    }
  })

  it.each([BigInt(MAX_FRAME_BYTES) + 1n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n])(
    'refuses a length of %s before anything else',
    (length) => {
      expect(() => [...walkFrames(concat([prefix(length), Uint8Array.of(1)]))]).toThrow(
        refusal('frame_too_large', 0, 0),
      )
    },
  )

  it('takes the largest length at its word, and finds it torn', () => {
    expect(() => [...walkFrames(prefix(BigInt(MAX_FRAME_BYTES)))]).toThrow(refusal('torn_frame', 0, 0))
  })

  it('walks a Buffer without sharing its ways', () => {
    const [frame] = walkFrames(Buffer.from(encodeFrame(Uint8Array.of(1, 2))))
    expect(Buffer.isBuffer(frame?.payload)).toBe(false)
  })
})

describe('streamFrames', () => {
  it('gives the same frames in chunks of any size, each in memory of its own', async () => {
    await fc.assert(
      fc.asyncProperty(payloads, fc.integer({ min: 1, max: 30 }), fc.boolean(), async (list, size, known) => {
        const bytes = concat(list.map(encodeFrame))
        const frames = []
        const stream = streamFrames(
          cut(bytes, size),
          { offset: 6, seq: 0 },
          known ? 6 + bytes.length : undefined,
        )
        for await (const frame of stream) frames.push(frame)
        const walked = [...walkFrames(bytes, { offset: 6 })]
        expect(frames).toEqual(walked)
        expect(frames.every(({ payload }) => payload.buffer !== bytes.buffer)).toBe(true)
      }),
    )
  })

  it('refuses what does not end with a frame', async () => {
    const all = async (bytes: Uint8Array) => {
      for await (const _ of streamFrames([bytes], { offset: 6, seq: 3 }));
    }
    await expect(all(encodeFrame(Uint8Array.of(1, 2)).subarray(0, 9))).rejects.toThrow(
      refusal('torn_frame', 6, 0),
    )
    await expect(all(prefix(2n ** 40n))).rejects.toThrow(refusal('frame_too_large', 6, 0))
  })

  it.each([undefined, 1000])(
    'allocates by what came or is known to come, never by what a prefix says',
    async (end) => {
      const before = process.memoryUsage().arrayBuffers
      const chunks = cut(concat([prefix(BigInt(MAX_FRAME_BYTES)), new Uint8Array(992)]), 10)
      await expect(streamFrames(chunks, {}, end).next()).rejects.toThrow()
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024)
    },
  )

  it('of a known end holds a large frame once while it comes', async () => {
    const bytes = encodeFrame(new Uint8Array(64 * 1024 * 1024))
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    function* chunks() {
      for (const chunk of cut(bytes, 1024 * 1024)) {
        yield chunk
        most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      }
    }
    const { value } = await streamFrames(chunks(), {}, bytes.length).next()
    expect(value?.payload.length).toBe(64 * 1024 * 1024)
    expect(most).toBeLessThan(80 * 1024 * 1024)
  })
})

describe('the preamble', () => {
  it('gives the version of an archive this reader knows', () => {
    expect(checkPreamble(new TextEncoder().encode('LVR1\u0000\u0001{'))).toBe(1)
    expect(checkPreamble(new TextEncoder().encode('LVR1\u0000\u0000'))).toBe(0)
  })

  it('of a newer version is refused by name', () => {
    expect(() => checkPreamble(new TextEncoder().encode('LVR1\u0000\u0002'))).toThrow(
      'format version 2, this reader knows up to 1',
    )
  })
})

describe('streamFrameBatches', () => {
  it.each([true, false])(
    'gives the same frames however the bytes are cut, lent (%s) or with memory of their own',
    async (lent) => {
      await fc.assert(
        fc.asyncProperty(payloads, fc.integer({ min: 1, max: 40 }), async (list, size) => {
          const bytes = concat(list.map(encodeFrame))
          const found: object[] = []
          const kept: Uint8Array[] = []
          for await (const frames of streamFrameBatches(
            overwritten(bytes, size),
            { offset: 6, seq: 2 },
            { lent },
          )) {
            for (const frame of frames) {
              found.push({ ...frame, payload: [...frame.payload] })
              kept.push(frame.payload)
            }
          }
          const expected = [...walkFrames(bytes, { offset: 6, seq: 2 })]
          expect(found).toEqual(expected.map((frame) => ({ ...frame, payload: [...frame.payload] })))
          if (!lent) expect(kept.map((payload) => [...payload])).toEqual(list.map((payload) => [...payload]))
        }),
      )
    },
  )

  it('gives several at a time, but never more than half a MiB of a chunk', async () => {
    const frame = encodeFrame(new Uint8Array(1000))
    const bytes = concat(Array.from({ length: 2000 }, () => frame))
    const counts: number[] = []
    for await (const frames of streamFrameBatches([bytes])) counts.push([...frames].length)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2000)
    expect(counts.length).toBe(4)
  })
})

/** Chunks whose memory holds something else as soon as the next one is asked for. */
function* overwritten(bytes: Uint8Array, size: number) {
  for (const piece of cut(bytes, size)) {
    const chunk = piece.slice()
    yield chunk
    chunk.fill(0xff)
  }
}
