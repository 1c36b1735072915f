import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalEqual, isJson, JsonGrammar, jsonBytes, jsonChunks, jsonText, parseJson, Raw } from '#codec'
import { JsonNumber } from '#schema'
import { anyJson, assertProperty } from '../../kit/arbitraries.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** Pieces of JSON, put together at random: mostly nearly JSON. */
const nearlyJson = fc
  .array(
    fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '\\',
        '\\u12',
        'true',
        'null',
        'fals',
        '0',
        '-',
        '1',
        '.',
      ],
      ...['e', 'E+', ' ', '\n', '\f', '\u0001', '{"a":1}', '[1,2]', '"é"', '1.5', '-0', '"\\n"', '[]', '{}'],
    ),
    { maxLength: 8 },
  )
  .map((pieces) => pieces.join(''))

const parses = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('the grammar', () => {
  it('says JSON where JSON.parse does', () => {
    assertProperty(
      fc.property(nearlyJson, (text) => {
        expect(isJson(bytes(text))).toBe(parses(text))
      }),
      { numRuns: 5000 },
    )
  })

  it('says the same however the text is cut', () => {
    assertProperty(
      fc.property(
        fc.oneof(nearlyJson, anyJson.map(jsonText)),
        fc.integer({ min: 1, max: 5 }),
        (text, size) => {
          const whole = bytes(text)
          const grammar = new JsonGrammar()
          for (let at = 0; at < whole.length; at += size) grammar.push(whole.subarray(at, at + size))
          expect(grammar.complete).toBe(isJson(whole))
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('does not look at UTF-8, surrogates, the size of numbers or the depth of nesting', () => {
    expect(isJson(Uint8Array.of(0x22, 0xff, 0xc0, 0x22))).toBe(true)
    expect(isJson(bytes('"\\ud800"'))).toBe(true)
    expect(isJson(bytes('1e999999'))).toBe(true)
    const deep = 1_000_000
    expect(isJson(bytes('['.repeat(deep) + ']'.repeat(deep)))).toBe(true)
    expect(isJson(bytes(`${'[{"a":'.repeat(deep)}1${'}]'.repeat(deep)}`))).toBe(true)
    expect(isJson(bytes(`${'[{"a":'.repeat(deep)}1${']}'.repeat(deep)}`))).toBe(false)
  })
})

describe('parseJson', () => {
  it('gives back every digit and every key', () => {
    assertProperty(
      fc.property(anyJson, (value) => {
        expect(parseJson(jsonBytes(value))).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  it('takes what JSON.parse takes, but for half surrogates and numbers beyond double range', () => {
    assertProperty(
      fc.property(nearlyJson, (text) => {
        let accepted = true
        try {
          parseJson(text)
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError)
          accepted = false
        }
        const half = /(?<!\\)(?:\\\\)*\\u12/
        expect(accepted).toBe(parses(text) && !half.test(text) && Number.isFinite(Number(text) || 0))
      }),
      { numRuns: 2000 },
    )
  })

  it('keeps the spelling of what is no plain integer', () => {
    expect(parseJson('[1, 9007199254740993, 1.0, 1e2, -0]')).toEqual([
      1,
      9007199254740993n,
      new JsonNumber('1.0'),
      new JsonNumber('1e2'),
      new JsonNumber('-0'),
    ])
  })

  it('makes objects in which no name is special', () => {
    const parsed = parseJson('{"__proto__":{"polluted":true},"constructor":1}')
    expect(Object.keys(parsed as object)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect('toString' in (parsed as object)).toBe(false)
  })

  it('refuses absurd nesting instead of running out of stack, and quotes nothing', () => {
    expect(() => parseJson('['.repeat(1_000_000))).toThrow(SyntaxError)
    expect(() => parseJson('{"hush":')).toThrow(/^not JSON at byte \d+$/)
    expect(() => parseJson('"\ud800"')).toThrow(SyntaxError)
  })
})

describe('jsonChunks', () => {
  it('gives the bytes of jsonBytes in pieces of at most 64 KiB', () => {
    const raw = new Raw(bytes(`"${'x'.repeat(200_000)}"`), () => null)
    const value = { raw, text: 'é'.repeat(100_000), list: Array.from({ length: 30_000 }, (_, i) => i) }
    const chunks = [...jsonChunks(value)]
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(65_536)
    expect(chunks.length).toBeLessThan(15)
    expect(Buffer.concat(chunks).equals(jsonBytes(value))).toBe(true)
  })

  it('takes from a lazy iterable only what is written', () => {
    let taken = 0
    const list = (function* () {
      for (;;) {
        taken++
        yield 'x'.repeat(1000)
      }
    })()
    const chunks = jsonChunks({ list })
    chunks.next()
    chunks.return()
    expect(taken).toBeLessThan(140)
  })

  it('writes what JSON.stringify writes, and exact numbers besides', () => {
    const plain = { a: [1, 'é\u2028"\\\n\u0001', null, true, {}, []], b: undefined, '10': -1.5 }
    expect(jsonText(plain)).toBe(JSON.stringify(plain))
    expect(jsonText([2n ** 64n, new JsonNumber('1.0'), new Map([['b', 1]]), new Set()])).toBe(
      '[18446744073709551616,1.0,{"b":1},[]]',
    )
    expect(() => jsonText(Number.NaN)).toThrow(TypeError)
    expect(() => jsonText([() => 1])).toThrow(TypeError)
  })
})

describe('canonicalEqual', () => {
  const equal = (a: string, b: string) => canonicalEqual(bytes(a), bytes(b))

  it('sees value, not spelling', () => {
    expect(equal('{"a":1,"b":[1.0]}', '{"b":[1.00],"a":1}')).toBe(true)
    expect(equal('1e2', '100.0')).toBe(true)
  })

  it('sees every digit, and an integer is no float', () => {
    expect(equal('9007199254740993', '9007199254740992')).toBe(false)
    expect(equal('1', '1.0')).toBe(false)
    expect(equal('-0', '0')).toBe(false)
    expect(equal('-0.0', '0.0')).toBe(false)
  })

  it('sees length, kind and absence', () => {
    for (const [a, b] of [
      ['[1]', '[1,2]'],
      ['{"a":null}', '{}'],
      ['{"a":null}', '{"b":null}'],
      ['[]', '{}'],
      ['null', '{}'],
      ['1.0', '{}'],
      ['[1.0]', '[null]'],
      ['"1"', '1'],
    ] as const) {
      expect([equal(a, b), equal(b, a)]).toEqual([false, false])
    }
  })
})
