import { afterEach, describe, expect, it, vi } from 'vitest'
import { PREAMBLE, readArchive, readRecord, scanRecord, Unreadable } from '#codec'
import { Cursor } from '../../shared/codec/json/cursor.ts'

// Every unreadable frame made two Errors with stack traces, up to 26 microseconds each: an append of a million empty
// frames, 8 MiB, kept a processor busy for many seconds.

const encoder = new TextEncoder()
const thrownBy = (read: () => unknown) => {
  try {
    read()
  } catch (error) {
    return error
  }
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('an unreadable payload', () => {
  it.each([
    ['', 'not_json'],
    [' {', 'not_json'],
    ['x', 'not_json'],
    ['{}', 'not_a_record'],
    ['[{"Header":1}]', 'not_a_record'],
    ['null', 'not_a_record'],
  ])('that does not begin as a record does is known without a failure: %j', (text, reason) => {
    const fail = vi.spyOn(Cursor.prototype, 'fail')
    expect(scanRecord(encoder.encode(text))).toMatchObject({ reason })
    expect(thrownBy(() => readRecord(encoder.encode(text)))).toMatchObject({ reason })
    expect(fail).not.toHaveBeenCalled()
  })

  it.each([
    ['{"', 'not_json'],
    ['{"New":{}}', 'unknown_kind'],
    ['{"StatusChanged":{"status":1,"at":0}}', 'invalid: StatusChanged.status'],
    ['{"ContextDiff":{"delta":{"stage_name":""},"at":0}}', 'invalid: ContextDiff.delta.total_tokens'],
  ])('makes no new error each time: %j', (text, reason) => {
    const fail = vi.spyOn(Cursor.prototype, 'fail')
    const results = new Set<unknown>()
    for (let n = 0; n < 3; n++) {
      results.add(scanRecord(encoder.encode(text)))
      results.add(thrownBy(() => readRecord(encoder.encode(text))))
    }
    expect([...results]).toEqual([Unreadable.of(reason)])
    expect(fail.mock.results.map(({ type }) => type)).toContain('throw')
    expect(new Set(fail.mock.results.map(({ value }) => value)).size).toBe(1)
  })

  it('shows no place in the program that it did not come from', () => {
    expect(Unreadable.of('not_json').stack).toBe('Unreadable: unreadable record: not_json')
  })
})

describe('an archive of empty frames', () => {
  it('is read without a failure in any of them', () => {
    const fail = vi.spyOn(Cursor.prototype, 'fail')
    const items = [...readArchive(new Uint8Array([...PREAMBLE, ...new Uint8Array(8 * 1000)]))]
    expect(items).toHaveLength(1000)
    expect(fail).not.toHaveBeenCalled()
  })
})
