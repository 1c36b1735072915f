import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeArchive,
  encodeFrame,
  isJson,
  PREAMBLE,
  readArchive,
  readStream,
  readStrict,
  scanRecord,
  Unreadable,
} from '#codec'
import { anyRecord, assertProperty } from '../../kit/arbitraries.ts'

const ascii = (text: string) => new TextEncoder().encode(text)
const concat = (pieces: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(pieces))

const RECORD = ascii('{"StatusChanged":{"status":"running","at":1}}')

/** Anything a damaged disk may have put into a file, most of it whole frames. */
const piece = fc.oneof(
  fc.constant(encodeFrame(RECORD)),
  fc
    .constantFrom(
      '',
      '{',
      '{"',
      ' { "x',
      '{}',
      '[]',
      '{"New":1}',
      '"x"',
      'junk',
      '{"a":\u0001}',
      ' \n{\t"q":',
    )
    .map((payload) => encodeFrame(ascii(payload))),
  fc.uint8Array({ maxLength: 9 }),
  fc.constantFrom(1, 5, 8, 16, 17).map((count) => new Uint8Array(count)),
)

const damaged = fc
  .tuple(fc.array(piece, { maxLength: 8 }), fc.nat({ max: 12 }))
  .map(([pieces, missing]) => concat(pieces).slice(0, Math.max(0, concat(pieces).length - missing)))
  .map((frames) => concat([PREAMBLE, frames]))

/** Rules a to e of LVR1.md 6, word for word, one look-ahead per frame. */
function oracle(file: Uint8Array): string[] {
  const lengthAt = (at: number) => new DataView(file.buffer, file.byteOffset + at).getBigUint64(0)
  const limit = 268_435_456n
  const opens = (payload: Uint8Array) =>
    /^[ \t\r\n]*\{[ \t\r\n]*"/.test(Buffer.from(payload).toString('latin1'))
  const plausible = (end: number): boolean => {
    if (end === file.length) return true
    if (file.length - end < 8 || lengthAt(end) > limit) return false
    const next = end + 8 + Number(lengthAt(end))
    if (opens(file.subarray(end + 8, next))) return true
    return next <= file.length && plausible(next)
  }
  const lines: string[] = []
  let at = 6
  while (at < file.length) {
    const tail = (reason: string) => [...lines, `${at} torn ${file.length - at} ${reason}`]
    if (file.length - at < 8) return tail('short_length')
    if (lengthAt(at) > limit) return tail('frame_too_large')
    const end = at + 8 + Number(lengthAt(at))
    if (end > file.length) return tail('short_payload')
    const payload = file.subarray(at + 8, end)
    const scan = scanRecord(payload)
    if (!isJson(payload) && !plausible(end)) return tail('not_json')
    lines.push(`${at} ${scan instanceof Unreadable ? scan.reason : scan.kind}`)
    at = end
  }
  return lines
}

const lineOf = (item: ReturnType<typeof scanned>[number]) => {
  if (item.type === 'torn') return `${item.offset} torn ${item.length} ${item.reason}`
  return `${item.frame.offset} ${item.type === 'record' ? item.record.kind : item.reason}`
}
const scanned = (file: Uint8Array) => [...readArchive(file, scanRecord)]

async function streamed(file: Uint8Array, size: number) {
  const lines: string[] = []
  const chunks = Array.from({ length: Math.ceil(file.length / size) }, (_, i) =>
    Buffer.from(file.subarray(i * size, (i + 1) * size)),
  )
  for await (const item of readStream(chunks, scanRecord)) lines.push(lineOf(item))
  return lines
}

describe('a lenient reader', () => {
  it('follows the rules of the format on any bytes', () => {
    assertProperty(
      fc.property(damaged, (file) => {
        expect(scanned(file).map(lineOf)).toEqual(oracle(file))
      }),
      { numRuns: 3000 },
    )
  })

  it('finds the same in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(damaged, fc.integer({ min: 1, max: 40 }), async (file, size) => {
        expect(await streamed(file, size)).toEqual(scanned(file).map(lineOf))
      }),
      { numRuns: 500 },
    )
  })

  it('numbers whole frames, readable or not, and covers every byte', () => {
    assertProperty(
      fc.property(damaged, (file) => {
        let [seq, offset] = [0, 6]
        for (const item of scanned(file)) {
          const place = item.type === 'torn' ? item : item.frame
          expect([place.seq, place.offset]).toEqual([seq, offset])
          seq++
          offset += place.length
        }
        expect(offset).toBe(file.length)
      }),
    )
  })

  it('never loses a record before the first damaged byte, nor crashes behind it', () => {
    assertProperty(
      fc.property(
        fc.array(anyRecord, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        fc.nat(),
        (records, place, flip) => {
          const file = encodeArchive(records)
          const ends = scanned(file).map((item) =>
            item.type === 'record' ? item.frame.offset + item.frame.length : 0,
          )
          const at = 6 + (place % (file.length - 6))
          file[at] = (file[at] as number) ^ (1 + (flip % 255))
          const untouched = ends.filter((end) => end <= at).length
          const items = [...readArchive(file)]
          expect(items.slice(0, untouched).every((item) => item.type === 'record')).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('reads every frame before a cut', () => {
    const file = encodeArchive(
      Array.from({ length: 3 }, () => ({ StatusChanged: { status: 'running', at: 1 } })),
    )
    const frame = (file.length - 6) / 3
    for (let end = 6; end <= file.length; end++) {
      const items = scanned(file.subarray(0, end))
      expect(items.filter((item) => item.type === 'record').length).toBe(Math.floor((end - 6) / frame))
      expect(items.some((item) => item.type === 'torn')).toBe((end - 6) % frame !== 0)
    }
  })

  it('steps over a megabyte of zeros in little memory', () => {
    const file = concat([PREAMBLE, new Uint8Array(1 << 20), encodeFrame(RECORD)])
    let [unreadable, records] = [0, 0]
    for (const item of readArchive(file)) item.type === 'record' ? records++ : unreadable++
    expect([unreadable, records]).toEqual([1 << 17, 1])
  })
})

describe('a strict reader', () => {
  it('gives the frames before the first problem and then refuses', () => {
    assertProperty(
      fc.property(damaged, (file) => {
        const items = scanned(file)
        const good = items.findIndex((item) => item.type !== 'record')
        const read: number[] = []
        const all = () => {
          for (const { frame } of readStrict(file, scanRecord)) read.push(frame.seq)
        }
        if (good < 0) all()
        else expect(all).toThrow(expect.objectContaining({ code: 'bad_frames' }))
        expect(read.length).toBe(good < 0 ? items.length : good)
      }),
    )
  })
})
