import { describe, expect, it } from 'vitest'
import {
  encodeArchive,
  encodeFrame,
  encodeRecord,
  type Finding,
  inspect,
  inspectTorn,
  readArchive,
  salvage,
} from '#codec'
import type { JournalRecord } from '#schema'

const status = (at: number): JournalRecord => ({ StatusChanged: { status: 'running', at } })
const message = (content: string): JournalRecord => ({
  Message: { message: { role: 'user', content }, at: 9 },
})
const frameOf = (record: JournalRecord) => encodeFrame(encodeRecord(record))
const concat = (...pieces: Uint8Array[]) => new Uint8Array(Buffer.concat(pieces))

/** A daemon died while it wrote a long message; the next one appended behind it (LVR1.md 5.1). */
const whole = encodeArchive([status(1)])
const cut = frameOf(message('x'.repeat(500))).subarray(0, 60)
const torn = concat(whole, cut, frameOf(status(2)), frameOf(status(3)))

const found = (bytes: Uint8Array, tail: number) =>
  [...salvage(bytes, tail)].map(({ salvaged, frame, record }) => ({
    salvaged,
    seq: frame.seq,
    offset: frame.offset,
    at: record.at,
  }))

describe('salvage', () => {
  it('finds what was appended behind a tear, marked, with its offset', () => {
    const start = whole.length + cut.length
    expect(found(torn, whole.length)).toEqual([
      { salvaged: true, seq: 0, offset: start, at: 2 },
      { salvaged: true, seq: 1, offset: start + frameOf(status(2)).length, at: 3 },
    ])
  })

  it('searches again behind the next tear', () => {
    const twice = concat(torn, cut, frameOf(status(4)))
    expect(found(twice, whole.length).map(({ at }) => at)).toEqual([2, 3, 4])
  })

  it('finds nothing in what only looks like a frame', () => {
    const unknown = encodeFrame(new TextEncoder().encode('{"New":{}}'))
    expect(found(concat(whole, cut, unknown, new Uint8Array(40)), whole.length)).toEqual([])
    expect(found(whole, whole.length)).toEqual([])
  })

  it('is never what a reader does by itself', () => {
    expect([...readArchive(torn)].map((item) => item.type)).toEqual(['record', 'torn'])
  })
})

describe('inspect', () => {
  const findings = async (...chunks: Uint8Array[]) => {
    const found: Finding[] = []
    for await (const finding of inspect(chunks)) found.push(finding)
    return found
  }

  it('explains an archive frame by frame, and a torn tail by what a salvage would find', async () => {
    const [frame, tail] = await findings(torn)
    expect(frame).toEqual({ seq: 0, offset: 6, length: 53, kind: 'StatusChanged', at: 1, problem: null })
    expect(tail).toMatchObject({ seq: 1, offset: 59, length: 166, kind: null })
    expect(tail?.problem).toBe('torn tail to the end of the file: short_payload')
    const behind = [...inspectTorn(torn.subarray(59), 59)]
    expect(behind.map(({ offset, seq, salvaged }) => [offset, seq, salvaged])).toEqual([
      [119, null, true],
      [172, null, true],
    ])
  })

  it('refuses bytes that are no archive at all, and shows no text of payloads', async () => {
    await expect(findings(new Uint8Array())).rejects.toThrow('the file is empty')
    const secret = encodeFrame(new TextEncoder().encode('{"Header":{"callback_secret":"hush"}}'))
    const found = await findings(concat(whole, secret))
    expect(found.at(-1)?.problem).toContain('unreadable')
    expect(JSON.stringify(found)).not.toContain('hush')
  })
})
