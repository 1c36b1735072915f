import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonNumber } from '#schema'
import { parseExact, type Value } from '../../../shared/sessions/exact-json.ts'
import { labelOf } from '../../../shared/sessions/label.ts'
import { PrettyWriter, type Writable } from '../../../shared/sessions/pretty.ts'
import { timeOf } from '../../../shared/sessions/time.ts'
import { integerOf } from '../../../shared/sessions/usage.ts'

function pretty(value: Writable): string {
  const out = new PrettyWriter()
  out.value(value, 0)
  return new TextDecoder().decode(Buffer.concat([...out.take()]))
}

/** With plain numbers and objects, as JSON.parse gives them. */
function plain(value: Value | undefined): unknown {
  if (value instanceof JsonNumber) return Number(value.text)
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]))
  return value
}

describe('exact JSON', () => {
  it('reads what JSON.parse reads, and refuses what it refuses', () => {
    const json = fc.json({ maxDepth: 4 })
    const broken = fc
      .tuple(json, fc.nat(), fc.constantFrom('', ' ', ',', '"', '}', '0', '\\', '\n', '-', 'e'))
      .map(
        ([text, at, letter]) =>
          text.slice(0, at % (text.length + 1)) + letter + text.slice((at + 1) % (text.length + 1)),
      )
    fc.assert(
      fc.property(fc.oneof(json, broken), (text) => {
        fc.pre(text.isWellFormed())
        let expected: unknown
        try {
          expected = JSON.parse(text)
        } catch {
          expected = undefined
        }
        const given = JSON.stringify(expected)?.toWellFormed()
        expect(JSON.stringify(plain(parseExact(text)))).toBe(given)
      }),
      { numRuns: 500 },
    )
  })

  it('is written as JSON.stringify writes it, where that can', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(text.isWellFormed() && !/"__proto__"|"\d+":|-0/.test(text))
        const parsed = parseExact(text)
        if (parsed === undefined) throw new Error('not read')
        expect(pretty(parsed)).toBe(JSON.stringify(value, null, 2))
      }),
    )
  })

  it('keeps numbers as they are spelled, and the last of equal names at the place of the first', () => {
    const parsed = parseExact('{"b":1.0,"2":[-0,1E400],"1":{},"b":12345678901234567890,"__proto__":[]}')
    expect(parsed && pretty(parsed).replace(/\s+/g, '')).toBe(
      '{"b":12345678901234567890,"2":[-0,1E400],"1":{},"__proto__":[]}',
    )
  })

  it('escapes only what must be', () => {
    expect(pretty('"\\/\u0000\b\t\n\f\r\u001f\u007f\u2028é🌊')).toBe(
      '"\\"\\\\/\\u0000\\b\\t\\n\\f\\r\\u001f\u007f\u2028é🌊"',
    )
  })
})

describe('times', () => {
  it.each([
    ['2026-11-02T09:00:00.120Z', '2026-11-02T09:00:00.120Z'],
    ['2026-11-02T09:00:00Z', '2026-11-02T09:00:00.000Z'],
    ['2026-11-02t09:00:00.1299999z', '2026-11-02T09:00:00.129Z'],
    ['2026-11-02T00:30:00+01:00', '2026-11-01T23:30:00.000Z'],
    ['2024-02-29T23:59:59.9-00:30', '2024-03-01T00:29:59.900Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => expect(timeOf(text)).toBe(expected))

  it.each([
    '2026-11-02',
    '2026-11-02 09:00:00Z',
    '2026-11-02T09:00:00',
    '2026-02-29T09:00:00Z',
    '2026-13-01T09:00:00Z',
    '2026-11-02T24:00:00Z',
    '2026-11-02T09:60:00Z',
    '2026-11-02T09:00:00+24:00',
    '0000-01-01T00:00:00+01:00',
    '1790000000001',
    '',
  ])('%s is none', (text) => expect(timeOf(text)).toBeUndefined())

  it('may be integers of Unix milliseconds', () => {
    const number = (text: string) => timeOf(new JsonNumber(text))
    expect(number('1790000000001')).toBe('2026-09-21T14:13:20.001Z')
    expect(number('-1')).toBe('1969-12-31T23:59:59.999Z')
    for (const text of ['1.5', '1e12', '99999999999999999']) expect(number(text), text).toBeUndefined()
  })
})

describe('counts of tokens', () => {
  it.each([
    ['12', 12n],
    ['-0', 0n],
    ['1.0', 1n],
    ['1e2', 100n],
    ['2.50e1', 25n],
    ['18446744073709551616', 18446744073709551616n],
    ['2.5', undefined],
    ['1e-1', undefined],
    ['1e99999999999', undefined],
  ])('%s is %s', (text, expected) => expect(integerOf(new JsonNumber(text))).toBe(expected))
})

describe('a label', () => {
  it('is one line of at most 72 code points', () => {
    expect(labelOf(' \n a\t\r\nb  c ')).toBe('a b c')
    expect(labelOf('🌊'.repeat(72))).toBe('🌊'.repeat(72))
    expect(labelOf(`${'🌊'.repeat(72)}   `)).toBe('🌊'.repeat(72))
    expect(labelOf(`${'🌊'.repeat(72)} x`)).toBe(`${'🌊'.repeat(71)}…`)
    expect(labelOf(`a\u00a0b`)).toBe('a\u00a0b')
    expect(labelOf(' \n ')).toBeUndefined()
  })
})
