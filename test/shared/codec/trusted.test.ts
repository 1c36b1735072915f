import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeRecord,
  type HeldRecord,
  jsonText,
  Raw,
  readRecord,
  readTrusted,
  recordView,
  scanRecord,
  Unreadable,
  walkFrames,
} from '#codec'
import { anyRecord, assertProperty } from '../../kit/arbitraries.ts'
import { goldenBytes, goldenCases, probes } from '../../kit/golden.ts'
import { describeShared, hasShared } from '../../kit/shared-folder.ts'
import { damagedPayload } from './damaged.ts'
import { respell } from './respell.ts'

const ascii = (text: string) => new TextEncoder().encode(text)

/** Everything a record holds, with bytes where it holds bytes. */
const told = (record: HeldRecord) => jsonText(record)

const outcome = (read: (payload: Uint8Array) => HeldRecord, payload: Uint8Array) => {
  try {
    return told(read(payload))
  } catch (error) {
    if (error instanceof Unreadable) return error.reason
    throw error
  }
}

/** What a store promises: it trusts only what was found readable. */
function sameIfReadable(payload: Uint8Array) {
  if (scanRecord(payload) instanceof Unreadable) expect(() => outcome(readTrusted, payload)).not.toThrow()
  else expect(outcome(readTrusted, payload)).toBe(told(readRecord(payload)))
}

describe('a trusted read', () => {
  it('gives the same record as a checking one, byte for byte, however it is spelled', () => {
    assertProperty(
      fc.property(anyRecord, fc.infiniteStream(fc.nat()), (record, dice) => {
        sameIfReadable(encodeRecord(record))
        sameIfReadable(respell(record, dice))
        sameIfReadable(recordView(encodeRecord(record)).bytes)
      }),
      { numRuns: 500 },
    )
  })

  it('gives the same of any readable payload with damaged bytes, and ends with any other', () => {
    assertProperty(fc.property(damagedPayload, sameIfReadable), { numRuns: 1500 })
  })

  it('gives the same with bytes taken out or doubled', () => {
    assertProperty(
      fc.property(anyRecord, fc.nat(), fc.nat(40), fc.boolean(), (record, place, count, doubled) => {
        const payload = encodeRecord(record)
        const at = place % payload.length
        const rest = payload.subarray(doubled ? at : at + count)
        sameIfReadable(new Uint8Array([...payload.subarray(0, doubled ? at + count : at), ...rest]))
      }),
      { numRuns: 800 },
    )
  })

  it('gives the same of escapes that a writer would spell otherwise', () => {
    const escapes = [
      '\\/',
      '\\u0041',
      '\\u000a',
      '\\u001F',
      '\\u001f',
      '\\u0008',
      '\\ud83d\\ude00',
      '\\"',
      '\\\\',
    ]
    for (const one of escapes) {
      const content = `"a ${one} \\n b"`
      const entry = `{"content":${content},"tokens":1,"kind":{"type":"Text"},"metadata":{${content}:1},"taint":"Public"}`
      const region = `{"name":${content},"kind":"history","current_tokens":1,"max_tokens":1,"entries":[${entry}]}`
      sameIfReadable(
        ascii(
          `{"ContextCheckpoint":{"snapshot":{"stage_name":"","total_tokens":1,"max_tokens":1,"regions":[${region}]},"at":1}}`,
        ),
      )
    }
  })

  it('holds what is canonical where it stands', () => {
    const payload = encodeRecord({ Message: { message: { role: 'user', content: 'x'.repeat(99) }, at: 1 } })
    const record = readTrusted(payload)
    if (record.kind !== 'Message') throw new Error('a message is wanted')
    expect(record.message).toBeInstanceOf(Raw)
    expect(record.message.bytes.buffer).toBe(payload.buffer)
  })

  it('looks at no letter of what is only carried', () => {
    const payload = encodeRecord({ Message: { message: { role: 'user', content: '@@@@' }, at: 1 } })
    payload[payload.indexOf(0x40)] = 0xff
    expect(scanRecord(payload)).toBeInstanceOf(Unreadable)
    expect(readTrusted(payload).kind).toBe('Message')
  })
})

describeShared('a trusted read of the golden archives', () => {
  it.each(hasShared ? goldenCases().map(({ file }) => file) : [])('%s', (file) => {
    const bytes = goldenBytes(file)
    try {
      for (const { payload } of walkFrames(bytes.subarray(6))) sameIfReadable(payload)
    } catch (error) {
      expect(error).toMatchObject({ code: 'bad_frames' })
    }
  })

  it('and of the probes', () => {
    for (const { input } of hasShared ? probes() : []) sameIfReadable(ascii(input))
  })
})
