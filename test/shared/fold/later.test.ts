import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeRecord,
  type HeldRecord,
  jsonText,
  readLater,
  readRecord,
  scanRecord,
  Unreadable,
  walkFrames,
} from '#codec'
import { type Folding, type FoldState, fold, foldedView, NO_HEADER, pointAfter, pointView } from '#fold'
import { demoRecords } from '../../../functions/cli/demo-run.ts'
import { anyRecord, assertProperty } from '../../kit/arbitraries.ts'
import { goldenBytes, goldenCases } from '../../kit/golden.ts'
import { describeShared, hasShared } from '../../kit/shared-folder.ts'
import { respell } from '../codec/respell.ts'

const told = (state: Folding) =>
  state === undefined || state === NO_HEADER ? `${state}` : jsonText(foldedView(state))

const readable = (payloads: readonly Uint8Array[]) =>
  payloads.filter((payload) => !(scanRecord(payload) instanceof Unreadable))

function folded(payloads: readonly Uint8Array[], read: (payload: Uint8Array) => HeldRecord): Folding[] {
  const states: Folding[] = []
  for (const payload of payloads) states.push(fold(states.at(-1), read(payload)))
  return states
}

/** The last state, and all of them looked at from the newest and from the oldest, are what reading at once gives. */
function same(payloads: readonly Uint8Array[]) {
  const expected = folded(payloads, readRecord).map(told)
  expect(told(folded(payloads, readLater).at(-1))).toBe(expected.at(-1) ?? 'undefined')
  expect(folded(payloads, readLater).map(told)).toEqual(expected)
  const backwards = folded(payloads, readLater).reverse().map(told)
  expect(backwards.reverse()).toEqual(expected)
}

const summaries = (payloads: readonly Uint8Array[], read: (payload: Uint8Array) => HeldRecord) =>
  payloads.reduce<{ state: Folding; lines: string[] }>(
    ({ state, lines }, payload, seq) => {
      const record = read(payload)
      const next = fold(state, record)
      const point = pointAfter(next, { seq, record })
      return { state: next, lines: point ? [...lines, jsonText(pointView(point, 'summary'))] : lines }
    },
    { state: undefined, lines: [] },
  ).lines

const demo = Array.from(demoRecords({ seed: 3, records: 300, entryBytes: 800 }))
const header = demo[0] as (typeof demo)[number]

describe('a fold of records that are read later', () => {
  it('is the fold of the same records read at once, after every one of them', () => {
    same(demo.map(encodeRecord))
  })

  it('is so for any records in any spelling', () => {
    assertProperty(
      fc.property(fc.array(anyRecord, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (records, dice) => {
        same(readable([header, ...records].map(encodeRecord)))
        same(readable([header, ...records].map((record) => respell(record, dice))))
      }),
      { numRuns: 150 },
    )
  })

  it('is so for real journals with damaged bytes that are readable still', () => {
    assertProperty(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(255)), { maxLength: 40 }), (changes) => {
        const payloads = demo.slice(0, 60).map(encodeRecord)
        for (const [n, place, byte] of changes) {
          const payload = payloads[n % payloads.length] as Uint8Array
          payload[place % payload.length] = byte
        }
        same(readable(payloads))
      }),
      { numRuns: 60 },
    )
  })

  it('gives the summary of every point, also where entries are only counted', () => {
    const payloads = demo.map(encodeRecord)
    const expected = summaries(payloads, readRecord)
    expect(summaries(payloads, readLater)).toEqual(expected)
    expect(summaries(payloads, (payload) => readLater(payload, 'counted'))).toEqual(expected)
  })

  it('reads nothing of a window that was replaced before anybody looked', () => {
    const payloads = demo.map(encodeRecord)
    const checkpoint = payloads.findLastIndex((_, n) => 'ContextCheckpoint' in (demo[n] as object))
    const before = payloads.slice(0, checkpoint)
    const broken = before.map((payload, n) =>
      'Progress' in (demo[n] as object) ? brokenInside(payload) : payload,
    )
    const tail = payloads.slice(checkpoint)
    expect(told(folded([...broken, ...tail], readLater).at(-1))).toBe(
      told(folded(payloads, readRecord).at(-1)),
    )
  })

  it('holds a bounded number of bytes that wait', () => {
    const text = 'x'.repeat(1 << 20)
    const region = { name: 'r', kind: 'k', current_tokens: 1, max_tokens: 1, entries: [], description: text }
    const delta = { stage_name: 's', total_tokens: 1, max_tokens: 1, regions: [{ Set: region }] }
    const payload = encodeRecord({ ContextDiff: { delta, at: 1 } })
    let state = fold(undefined, readRecord(encodeRecord(header))) as FoldState
    let most = 0
    for (let n = 0; n < 40; n++) {
      state = fold(state, readLater(payload)) as FoldState
      most = Math.max(most, 'waiting' in state.context ? Number(state.context.waiting) : 0)
    }
    expect(most).toBeGreaterThan(16 << 20)
    expect(most).toBeLessThanOrEqual(32 << 20)
    expect(state.context.regions.length).toBe(1)
  })
})

/** The same payload with a delta that is none. */
function brokenInside(payload: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(payload)
  return new TextEncoder().encode(text.replace('"delta":{', '"delta":['))
}

describeShared('a fold of the golden archives whose records are read later', () => {
  it.each(hasShared ? goldenCases().map(({ file }) => file) : [])('%s', (file) => {
    const payloads: Uint8Array[] = []
    try {
      for (const { payload } of walkFrames(goldenBytes(file).subarray(6))) payloads.push(payload)
    } catch (error) {
      expect(error).toMatchObject({ code: 'bad_frames' })
    }
    const few = readable(payloads).slice(0, 150)
    same(few)
    expect(summaries(few, (payload) => readLater(payload, 'counted'))).toEqual(summaries(few, readRecord))
  })
})
