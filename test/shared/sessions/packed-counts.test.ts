import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PackedCounts } from '../../../shared/sessions/packed-counts.ts'

const counts = fc
  .array(fc.option(fc.bigInt({ min: -(10n ** 39n), max: 10n ** 39n }), { nil: '' }), {
    minLength: 5,
    maxLength: 5,
  })
  .map((five) => five.join(','))

describe('packed counts', () => {
  it('are the texts that were set last', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), counts), { maxLength: 600 }), (steps) => {
        const packed = new PackedCounts()
        const plain: string[] = []
        for (const [any, text] of steps) {
          const number = any % (plain.length + 1)
          packed.set(number, text)
          plain[number] = text
        }
        expect(plain.map((_, number) => packed.get(number))).toEqual(plain)
        expect(packed.get(plain.length)).toBeUndefined()
        for (const from of [0, plain.length >> 1, plain.length])
          expect(packed.linesFrom(from)).toBe(plain.slice(from).join('\n'))
      }),
    )
  })

  it('take no more room for a list that is told again and again while it is the newest', () => {
    const packed = new PackedCounts()
    for (let i = 0; i < 1_000_000; i++) packed.set(0, `${i}`)
    expect(packed.bytes).toBeLessThan(10_000)
  })

  it('refuse a number that leaves one out, and what is too long', () => {
    const packed = new PackedCounts()
    expect(() => packed.set(1, '1')).toThrow(RangeError)
    expect(() => packed.set(0, '1'.repeat(256))).toThrow(RangeError)
    expect(packed.get(0)).toBeUndefined()
  })
})
