import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeRecord,
  type HeldRecord,
  jsonText,
  pickMeta,
  readLater,
  readRecord,
  recordView,
  scanRecord,
  Unreadable,
  waitingBytes,
  walkFrames,
} from '#codec'
import { anyRecord, assertProperty } from '../../kit/arbitraries.ts'
import { goldenBytes, goldenCases, probes } from '../../kit/golden.ts'
import { PLAIN_META } from '../../kit/plain-header.ts'
import { describeShared, hasShared } from '../../kit/shared-folder.ts'
import { damagedPayload } from './damaged.ts'
import { respell } from './respell.ts'

const ascii = (text: string) => new TextEncoder().encode(text)

/** Everything `record` holds, by the names of the members that `like` has. */
const told = (record: HeldRecord, like: HeldRecord) =>
  jsonText(Object.fromEntries(Object.keys(like).map((name) => [name, Reflect.get(record, name)])))

/** What is said of windows and their changes, but for the entries themselves. */
const outlined = (value: unknown): string =>
  JSON.stringify(value, (name, inner) =>
    name === 'entries' ? inner.length : typeof inner === 'bigint' ? `${inner}n` : inner,
  )

/** Of a payload that was found readable, a later look gives all that an early one does. */
function sameIfReadable(payload: Uint8Array) {
  if (scanRecord(payload) instanceof Unreadable) return
  const expected = readRecord(payload)
  expect(told(readLater(payload), expected)).toBe(told(expected, expected))
  if (!('delta' in expected || 'snapshot' in expected || 'context' in expected)) return
  const counted = readLater(payload, 'counted')
  for (const name of ['delta', 'snapshot', 'context', 'at'] as const) {
    const [a, b] = [Reflect.get(counted, name), Reflect.get(expected, name)]
    if (name in expected) expect(outlined(a)).toEqual(outlined(b))
  }
}

describe('a record that is read later', () => {
  it('holds the same as one that is read at once, byte for byte, however it is spelled', () => {
    assertProperty(
      fc.property(anyRecord, fc.infiniteStream(fc.nat()), (record, dice) => {
        sameIfReadable(encodeRecord(record))
        sameIfReadable(respell(record, dice))
        sameIfReadable(recordView(encodeRecord(record)).bytes)
      }),
      { numRuns: 500 },
    )
  })

  it('holds the same when its bytes were damaged and are readable still', () => {
    assertProperty(fc.property(damagedPayload, sameIfReadable), { numRuns: 2000 })
  })

  it('ends with any bytes that are not readable', () => {
    assertProperty(
      fc.property(anyRecord, fc.nat(), fc.nat(255), (record, place, byte) => {
        const payload = encodeRecord(record)
        payload[place % payload.length] = byte
        try {
          const late = readLater(payload)
          for (const name of ['meta', 'delta', 'snapshot', 'context', 'result', 'usage', 'message']) {
            const member = Reflect.get(late, name)
            if (member !== undefined) jsonText(member)
          }
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('knows its time from its end where the end says it, and only there', () => {
    const region = '"stage_name":"","total_tokens":1,"max_tokens":1,"regions":[]'
    const bodies = [
      `{"snapshot":{${region}},"at":12}`,
      `{"snapshot":{${region}},"at":-12}`,
      `{"snapshot":{${region}},"at":0}`,
      `{"snapshot":{${region}},"at":9223372036854775807}`,
      `{"snapshot":{${region}},"at":-9223372036854775808}`,
      `{"at":3,"snapshot":{${region}}}`,
      `{"at":3,"snapshot":{${region},"x":{"at":4}}}`,
      `{"at":3,"snapshot":{${region}},"x":{"at":4}}`,
      `{"snapshot":{${region}},"at":3,"x":",\\"at\\":4"}`,
      `{"snapshot":{${region}},"\\u0061t":3,",\\"at":4}`,
      `{"snapshot":{${region}},"at":3,"b,at":4}`,
      `{"snapshot":{${region}},"at": 5}`,
      `{"snapshot":{${region}},"at":5 }`,
    ]
    for (const body of bodies) {
      const payload = ascii(`{"ContextCheckpoint":${body}}`)
      expect(scanRecord(payload)).not.toBeInstanceOf(Unreadable)
      sameIfReadable(payload)
    }
  })

  it('waits as long as nobody asks, and is whole once somebody has', () => {
    const payload = encodeRecord({ ToolCallDone: { iteration: 7, call_id: 'c', result: 'r', at: 1 } })
    const record = readLater(payload)
    if (record.kind !== 'ToolCallDone') throw new Error('a result is wanted')
    expect([record.kind, record.at]).toEqual(['ToolCallDone', 1])
    expect(waitingBytes(record)).toBe(payload.length)
    expect([record.iteration, record.call_id]).toEqual([7, 'c'])
    expect(waitingBytes(record)).toBe(0)
    expect(waitingBytes(readRecord(payload))).toBe(0)
  })
})

describe('what is picked of a meta that waits', () => {
  const meta = (callback_secret: string | null) => ({
    ...PLAIN_META,
    model: null,
    iteration: 41,
    updated_at: 2,
    callback_url: 'u',
    callback_secret,
  })
  const delta = { stage_name: '', total_tokens: 0, max_tokens: 0, regions: [] }
  const metaOf = (text: string) => {
    const record = readLater(ascii(text))
    if (record.kind !== 'Progress') throw new Error('a meta is wanted')
    return record.meta
  }

  it('is the same in any spelling', () => {
    const plain = JSON.stringify({ Progress: { meta: meta(null), delta, at: 1 } })
    const spaced = plain.replaceAll(':', ' : ').replaceAll(',"', ' , "')
    const turned = plain.replace('"run_id":"r",', '').replace('"workdir"', '"run_id":"r","workdir"')
    const escaped = plain.replace('"status"', '"st\\u0061tus"').replace('"iteration"', '"\\u0069teration"')
    for (const text of [plain, spaced, turned, escaped]) {
      expect(pickMeta(metaOf(text), 'status', 'iteration', 'run_id')).toEqual({
        status: 'running',
        iteration: 41,
        run_id: 'r',
      })
    }
  })

  it('is never the secret', () => {
    const held = metaOf(JSON.stringify({ Progress: { meta: meta('s3cret'), delta, at: 1 } }))
    expect(pickMeta(held, 'callback_secret', 'callback_url')).toEqual({
      callback_secret: null,
      callback_url: 'u',
    })
    expect(jsonText(held)).not.toContain('s3cret')
  })
})

describeShared('records of the golden archives that are read later', () => {
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
