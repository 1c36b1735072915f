import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeRecord, readRecord, scanRecord, Unreadable } from '#codec'
import { Quotes } from '../../../shared/codec/json/quotes.ts'
import { assertProperty } from '../../kit/arbitraries.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })
/** Texts shorter than this are not given to the kernel. */
const FEWEST_BYTES = 128

const padded = (piece: Uint8Array, before: number): Uint8Array => {
  const bytes = new Uint8Array(before + piece.length + FEWEST_BYTES).fill(0x20)
  bytes.set(piece, before)
  return bytes
}

/** What the kernel must say, found one letter at a time: where the quotes stand, or null. */
function slowly(bytes: Uint8Array): number[] | null {
  try {
    decoder.decode(bytes)
  } catch {
    return null
  }
  const quotes: number[] = []
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte < 0x20) return null
    if (byte === 0x22) quotes.push(at)
    if (byte !== 0x5c) continue
    const spelled = String.fromCharCode(...bytes.subarray(at, at + 6))
    const short = /^\\["\\bfnrt]/.test(spelled)
    if (!short && !/^\\u00(0[0-7bef]|1[0-9a-f])/.test(spelled)) return null
    at++
  }
  return quotes
}

function told(bytes: Uint8Array): number[] | null {
  const quotes = Quotes.of(bytes)
  if (quotes === undefined) return null
  const places: number[] = []
  for (const [at, byte] of bytes.entries()) if (byte === 0x22 && quotes.behind(at) >= 0) places.push(at)
  return places
}

/** The last quote opens nothing, so `behind` does not tell of it. */
function same(bytes: Uint8Array) {
  expect(told(bytes)).toEqual(slowly(bytes)?.slice(0, -1) ?? null)
}

describe('the letters of a text that are checked all at once', () => {
  it('are UTF-8 exactly where a decoder says so: all that two bytes can be, and what may follow', () => {
    for (let first = 0x80; first <= 0xff; first++) {
      for (let second = 0x20; second <= 0xff; second++) {
        same(padded(Uint8Array.of(first, second), 62))
        same(padded(Uint8Array.of(first, second, 0x80), 61))
        if (first >= 0xe0) same(padded(Uint8Array.of(first, second, 0xbf, 0x80), 15))
      }
    }
  })

  it('are checked across the edges of what is looked at together', () => {
    for (const letter of [
      'é',
      '日',
      '😀',
      '\u0000',
      '"',
      '\\',
      '\\"',
      '\\\\"',
      '\\u0001',
      '\\u001f',
      '\\u0008',
    ]) {
      const bytes = encoder.encode(`"${letter}"`)
      for (let before = 0; before < 130; before++) {
        same(padded(bytes, before))
        for (let cut = 1; cut < bytes.length; cut++) same(padded(bytes.subarray(0, cut), before))
        for (let cut = 1; cut < bytes.length; cut++) same(padded(bytes.subarray(cut), before))
      }
    }
  })

  it('are escaped as a writer does, or not at once', () => {
    for (let letter = 0x20; letter < 0x7f; letter++) {
      same(padded(Uint8Array.of(0x22, 0x5c, letter, 0x22), 60))
      same(padded(encoder.encode(`"\\u000${String.fromCharCode(letter)}"`), 58))
      same(padded(encoder.encode(`"\\u001${String.fromCharCode(letter)}"`), 58))
      same(padded(encoder.encode(`"\\u0${String.fromCharCode(letter)}01"`), 58))
    }
  })

  it('are what a slow look says, of any bytes', () => {
    const piece = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom('"', '\\"', '\\\\', 'é', '日本', '😀', ' {"a":1}', '\\n', '\\u001b'),
      },
      { weight: 1, arbitrary: fc.constantFrom('\\', '\n', '\\/', '\\u0041', '\\ud800', '\u0007') },
    )
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 })
    assertProperty(
      fc.property(fc.array(piece, { maxLength: 60 }), damage, fc.nat(70), (pieces, changes, before) => {
        const bytes = padded(encoder.encode(pieces.join('')), before)
        same(bytes)
        for (const [place, byte] of changes) bytes[place % bytes.length] = byte
        same(bytes)
      }),
      { numRuns: 2000 },
    )
  })

  it('are found by a reader that goes back, and not behind what is no quote', () => {
    const text = `{"a":"b","c":["d\\"","e"]}${' '.repeat(FEWEST_BYTES)}`
    const quotes = Quotes.of(encoder.encode(text)) as Quotes
    const behind = (part: string) => quotes.behind(text.indexOf(part)) - text.indexOf(part)
    for (const part of ['"e"', '"a"', '"d', '"b"', '"c"', '"c"', '"e"', '"a"']) {
      expect(behind(part)).toBe(part === '"d' ? 5 : 3)
    }
    expect(quotes.behind(0)).toBe(-1)
    expect(quotes.behind(text.length)).toBe(-1)
  })
})

describe('a record whose letters are checked at once', () => {
  const content = `${'ä'.repeat(80)} \\u001b[31m "quoted" \\\\ 😀`
  const payload = encodeRecord({ Message: { message: { role: 'user', content }, at: 1 } })
  const damaged = (from: number, byte: number) => {
    const bytes = payload.slice()
    bytes[payload.indexOf(from)] = byte
    return bytes
  }

  it('is read, and is not when one letter of it is damaged', () => {
    expect(readRecord(payload).kind).toBe('Message')
    for (const bytes of [
      damaged(0xc3, 0xff),
      damaged(0xa4, 0x20),
      damaged(0xf0, 0xf8),
      damaged(0x71, 0x07),
    ]) {
      expect(scanRecord(bytes)).toBeInstanceOf(Unreadable)
    }
  })
})
