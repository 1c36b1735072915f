import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeRecord, jsonBytes, jsonText, parseJson, readRecord, recordView, Unreadable } from '#codec'
import { type Json, JsonNumber, type JsonObject } from '#schema'
import { anyRecord, assertProperty } from '../../kit/arbitraries.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** A blank anywhere makes a payload be read member by member and written anew. */
const withBlank = (payload: Uint8Array) => new Uint8Array([0x7b, 0x20, ...payload.subarray(1)])

const outcome = (read: (payload: Uint8Array) => string, payload: Uint8Array) => {
  try {
    return read(payload)
  } catch (error) {
    if (error instanceof Unreadable) return error.reason
    throw error
  }
}

/** The record without some of its members; `dice` says which. */
function thinned(value: Json, dice: Iterator<number>): Json {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return value
  if (Array.isArray(value)) return value.map((item) => thinned(item, dice))
  const kept = Object.entries(value as JsonObject).filter(
    ([name]) => !MAY_BE_MISSING.has(name) || (dice.next().value as number) % 3 > 0,
  )
  return Object.fromEntries(kept.map(([name, member]) => [name, thinned(member, dice)]))
}

const MAY_BE_MISSING = new Set(
  ['model', 'pid', 'cached_tokens', 'tool_calls', 'last_progress_at', 'error', 'title', 'metadata', 'flags']
    .concat(['callback_secret', 'children', 'depth', 'yolo', 'modified_files', 'workspace_lost', 'bytes'])
    .concat([
      'kind',
      'taint',
      'entries',
      'description',
      'key',
      'stage_index',
      'iteration',
      'response',
      'result',
    ])
    .concat(['splits_degraded', 'truncated', 'format', 'thought_signature']),
)

describe('a member that is missing', () => {
  it('is filled in where it belongs, as if the whole value were written anew', () => {
    assertProperty(
      fc.property(anyRecord, fc.infiniteStream(fc.nat()), (record, dice) => {
        const payload = jsonBytes(thinned(parseJson(encodeRecord(record)), dice[Symbol.iterator]()))
        const view = (bytes: Uint8Array) => text(recordView(bytes).bytes)
        expect(outcome(view, payload)).toBe(outcome(view, withBlank(payload)))
        const held = (bytes: Uint8Array) => jsonText(readRecord(bytes))
        expect(outcome(held, payload)).toBe(outcome(held, withBlank(payload)))
      }),
      { numRuns: 1000 },
    )
  })

  it('costs one copy of the value and no more', () => {
    const payload = new TextEncoder().encode(
      '{"ContextCheckpoint":{"snapshot":{"stage_name":"","total_tokens":0,"max_tokens":0,"regions":[{"name":"r","kind":"k","current_tokens":0,"max_tokens":0,"entries":[{"content":"c","tokens":1}]}]},"at":1}}',
    )
    const record = readRecord(payload)
    if (record.kind !== 'ContextCheckpoint') throw new Error('a checkpoint is wanted')
    const entry = record.snapshot.regions[0]?.entries[0]
    expect(entry && text(entry.bytes)).toBe(
      '{"content":"c","tokens":1,"kind":{"type":"Text"},"taint":"Internal"}',
    )
  })
})
