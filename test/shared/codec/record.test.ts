import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalEqual,
  encodeArchive,
  encodeRecord,
  hold,
  isJson,
  readArchive,
  readMeta,
  readMetaWithSecret,
  readRecord,
  recordView,
  scanRecord,
  Unreadable,
} from '#codec'
import { type JournalRecord, JsonNumber, journalRecord, POINT_KINDS, RECORD_KINDS, runMeta } from '#schema'
import { anyRecord, assertProperty } from '../../kit/arbitraries.ts'
import { respell } from './respell.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** A record as a view shows it: no secret. */
function withoutSecret(record: JournalRecord): JournalRecord {
  const [kind, body] = Object.entries(record)[0] as [string, { meta?: object }]
  const meta = body.meta === undefined ? {} : { meta: { ...body.meta, callback_secret: null } }
  return { [kind]: { ...body, ...meta } } as unknown as JournalRecord
}

const verdict = (read: (payload: Uint8Array) => unknown, payload: Uint8Array) => {
  try {
    const result = read(payload)
    return result instanceof Unreadable ? result.reason : 'readable'
  } catch (error) {
    if (error instanceof Unreadable) return error.reason
    throw error
  }
}

describe('records', () => {
  it('come back as they were written, but for the secret', () => {
    assertProperty(
      fc.property(anyRecord, (record) => {
        const view = recordView(encodeRecord(record))
        expect(text(encodeRecord(view.read()))).toBe(text(encodeRecord(withoutSecret(record))))
        expect(Object.keys(view.read())).toEqual(Object.keys(record))
      }),
      { numRuns: 500 },
    )
  })

  it('are canonical as they are written, so views are held and not copied', () => {
    assertProperty(
      fc.property(anyRecord, (record) => {
        const payload = encodeRecord(withoutSecret(record))
        expect(recordView(payload).bytes.buffer).toBe(payload.buffer)
      }),
    )
  })

  it('have one canonical form however they are spelled', () => {
    assertProperty(
      fc.property(anyRecord, fc.infiniteStream(fc.nat()), (record, dice) => {
        const plain = encodeRecord(record)
        const respelled = respell(record, dice)
        const view = recordView(respelled)
        expect(canonicalEqual(view.bytes, recordView(plain).bytes)).toBe(true)
        expect(text(recordView(view.bytes).bytes)).toBe(text(view.bytes))
        expect(canonicalEqual(hold(journalRecord, view.read()).bytes, view.bytes)).toBe(true)
        expect(scanRecord(respelled)).toEqual(scanRecord(plain))
      }),
      { numRuns: 500 },
    )
  })

  it('are judged alike by every way of reading, whatever byte is damaged', () => {
    assertProperty(
      fc.property(anyRecord, fc.nat(), fc.integer({ min: 0, max: 255 }), (record, place, byte) => {
        const payload = encodeRecord(record)
        payload[place % payload.length] = byte
        const reason = verdict(recordView, payload)
        expect(verdict(readRecord, payload)).toBe(reason)
        expect(verdict(scanRecord, payload)).toBe(reason)
        expect(isJson(payload)).toBe(reason !== 'not_json')
        expect(reason).toMatch(/^(readable|not_json|not_a_record|unknown_kind|invalid: [A-Za-z_.]+)$/)
      }),
      { numRuns: 2000 },
    )
  })

  it('give kind, time and point to a scan', () => {
    assertProperty(
      fc.property(anyRecord, (record) => {
        const [kind, body] = Object.entries(record)[0] as [keyof JournalRecord, { at?: unknown }]
        const point = POINT_KINDS.has(kind)
        expect(scanRecord(encodeRecord(record))).toEqual({ kind, at: body.at ?? null, point })
        expect(readRecord(encodeRecord(record))).toMatchObject({ kind, at: body.at ?? null })
      }),
    )
  })

  it('never show the secret, nor any text of a payload in a reason', () => {
    assertProperty(
      fc.property(anyRecord, fc.infiniteStream(fc.nat()), (record, dice) => {
        const secret = 'hush-4711'
        const meta = { ...(Object.values(record)[0] as { meta?: object }).meta, callback_secret: secret }
        const holder = {
          ...record,
          ...Object.fromEntries(
            Object.entries(record).map(([k, b]) => [k, 'meta' in b ? { ...b, meta } : b]),
          ),
        }
        const payload = respell(holder as JournalRecord, dice)
        expect(text(recordView(payload).bytes)).not.toContain(secret)
        const held = readRecord(payload)
        if ('meta' in held) {
          expect(text(held.meta.bytes)).not.toContain(secret)
          expect(held.meta.read().callback_secret).toBeNull()
          expect(readMetaWithSecret(payload)?.callback_secret).toBe(secret)
          expect(text(hold(runMeta, readMetaWithSecret(payload) ?? held.meta).bytes)).not.toContain(secret)
        } else expect(readMetaWithSecret(payload)).toBeUndefined()
      }),
    )
    const broken = '{"Header":{"meta":{"callback_secret":["hush-4711"]}}}'
    expect(verdict(readRecord, new TextEncoder().encode(broken))).toBe('invalid: Header.meta.callback_secret')
  })
})

describe('many names in one object', () => {
  const meta = (metadata: string) =>
    new TextEncoder().encode(
      `{"ContextDiff":{"delta":{"stage_name":"","total_tokens":0,"max_tokens":0,"regions":[{"Append":{"name":"c","entries":[{"content":"","tokens":0,"kind":{"type":"Text"},"metadata":{${metadata}},"taint":"Public"}],"current_tokens":0}}]},"at":1}}`,
    )
  const members = Array.from({ length: 3000 }, (_, i) => `"${i % 2 === 0 ? 'k' : '\\"é'}${i}":${i}`)

  it('are held as they stand while they differ', () => {
    const payload = meta(members.join())
    expect(recordView(payload).bytes.buffer).toBe(payload.buffer)
  })

  it.each([0, 5, 16, 17, 40, 2999])('and the last of two wins, when member %i is repeated', (i) => {
    const repeated = (members[i] as string).replace(/:\d+$/, ':"again"')
    const view = text(recordView(meta([...members, repeated].join())).bytes)
    expect(view).toContain(repeated)
    expect(view).not.toContain(`${members[i]},`)
  })
})

describe('a hostile payload', () => {
  const big = 16 * 1024 * 1024
  const hostile: [string, string, string][] = [
    [
      'a long text where a word belongs',
      `{"StatusChanged":{"status":"${'r'.repeat(big)}","at":1}}`,
      'invalid: StatusChanged.status',
    ],
    ['a long kind', `{"${'K'.repeat(big)}":{}}`, 'unknown_kind'],
    [
      'a long integer',
      `{"StatusChanged":{"status":"running","at":${'1'.repeat(big)}}}`,
      'invalid: StatusChanged.at',
    ],
    [
      'many unknown fields',
      `{"StatusChanged":{${'"x":0,'.repeat(big / 8)}"status":"running","at":1}}`,
      'readable',
    ],
    ['endless nesting', `{"StatusChanged":{"status":"running","at":1,"x":${'['.repeat(big)}`, 'not_json'],
    [
      'a long text',
      `{"Message":{"message":{"role":"user","content":"${'é'.repeat(big / 2)}"},"at":1}}`,
      'readable',
    ],
    [
      'a long float',
      `{"ContextDiff":{"delta":{"x":0.${'0'.repeat(big)}},"at":1}}`,
      'invalid: ContextDiff.delta.stage_name',
    ],
  ]

  it.each(hostile)('%s is scanned in less memory than it has bytes', (_, payloadText, reason) => {
    const payload = new TextEncoder().encode(payloadText)
    const used = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
    const before = used()
    expect(verdict(scanRecord, payload)).toBe(reason)
    expect(used() - before).toBeLessThan(big)
  })
})

describe('a held record', () => {
  it('carries entries and metas as slices of the frame they came in', () => {
    const entry = {
      content: 'x',
      tokens: 1,
      kind: { type: 'Text' },
      metadata: null,
      key: null,
      taint: 'Public',
    }
    const region = {
      name: 'c',
      kind: 'history',
      current_tokens: 1,
      max_tokens: 9,
      entries: [entry],
      description: null,
    }
    const snapshot = { stage_name: 's', total_tokens: 1, max_tokens: 9, regions: [region] }
    const payload = encodeRecord({ ContextCheckpoint: { snapshot, at: 3 } } as unknown as JournalRecord)
    const held = readRecord(payload)
    if (held.kind !== 'ContextCheckpoint') throw new Error(held.kind)
    const [only] = held.snapshot.regions[0]?.entries ?? []
    expect(only?.bytes.buffer).toBe(payload.buffer)
    expect(only?.read()).toEqual(entry)
    expect(held.snapshot.regions[0]).toMatchObject({ name: 'c', kind: 'history', description: null })
  })

  it('is a value of its own for an Inference, all of it decoded when asked', () => {
    const record = fc.sample(
      anyRecord.filter((one) => 'Inference' in one && one.Inference.request.messages.length > 0),
      1,
    )[0] as JournalRecord
    const held = readRecord(encodeRecord(record))
    if (held.kind !== 'Inference') throw new Error(held.kind)
    expect(held.inference.read().request.messages[0]).toHaveProperty('role')
  })
})

describe('writing records', () => {
  it('refuses what no reader would take back', () => {
    const write = (record: unknown) => () => encodeRecord(record as JournalRecord)
    expect(write({ StatusChanged: { status: 'running', at: 2 ** 53 } })).toThrow(TypeError)
    expect(write({ StatusChanged: { status: 'running', at: 1.5 } })).toThrow(TypeError)
    expect(write({ StatusChanged: { status: 'Running', at: 1 } })).toThrow(TypeError)
    expect(write({ StatusChanged: { status: 'running' } })).toThrow('at is missing')
    expect(write({ StatusChanged: { status: 'running', at: 1 }, Message: {} })).toThrow('exactly one key')
    expect(write({ Message: { message: { role: 'user', content: '\ud800' }, at: 1 } })).toThrow(TypeError)
    expect(write({})).toThrow('exactly one key')
  })

  it('spells 32-bit floats as the reference does, and keeps one that would overflow', () => {
    const spelled = (temperature: number | JsonNumber) => {
      const request = { model: '', system: [], messages: [], tool_names: [], temperature, max_tokens: 0 }
      const counts = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, cache_write_tokens: 0 }
      const response = { content: '', tool_calls: [], ...counts }
      const record = { Inference: { stage: '', iteration: 0, request, response, at: 0 } }
      return /"temperature":([^,]*),/.exec(text(encodeRecord(record)))?.[1]
    }
    const table: [number | string, string][] = [
      [0.7, '0.7'],
      [1, '1.0'],
      [0, '0.0'],
      [-0, '-0.0'],
      [0.30000000000000004, '0.3'],
      [16777217, '16777216.0'],
      [1e-7, '1e-7'],
      [1e-5, '0.00001'],
      [123.456, '123.456'],
      [1e15, '1e+15'],
      [1e16, '1e+16'],
      [3.4028235e38, '3.4028235e+38'],
      ['1e39', '1e39'],
      ['1.50', '1.5'],
    ]
    for (const [value, expected] of table) {
      expect(spelled(typeof value === 'string' ? new JsonNumber(value) : value)).toBe(expected)
    }
  })

  it('makes archives that read back whole', () => {
    assertProperty(
      fc.property(fc.array(anyRecord, { maxLength: 5 }), (records) => {
        const items = [...readArchive(encodeArchive(records), recordView)]
        expect(items.map((item) => item.type)).toEqual(records.map(() => 'record'))
      }),
    )
  })

  it('knows every kind of the schema', () => {
    const kinds = new Set(fc.sample(anyRecord, 500).map((record) => Object.keys(record)[0]))
    expect([...kinds].sort()).toEqual([...RECORD_KINDS].sort())
  })
})

it('defaults are shared and cannot be changed by a reader', () => {
  const minimal =
    '{"run_id":"r","agent_name":"a","agent_path":"/a","task":"t","status":"running","current_stage":"","stage_index":0,"num_stages":1,"iteration":0,"prompt_tokens":0,"completion_tokens":0,"workdir":"/w","started_at":1,"updated_at":1}'
  const meta = readMeta(new TextEncoder().encode(minimal))
  expect(() => meta.children.push('x')).toThrow(TypeError)
  expect(readMeta(new TextEncoder().encode(minimal)).children).toEqual([])
})
