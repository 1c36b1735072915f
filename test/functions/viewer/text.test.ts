import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blocksOf, folded, piecesOf, plain } from '../../../functions/viewer/data/text.ts'

const whole = (text: string) =>
  piecesOf(text).map((piece) => (typeof piece === 'string' ? piece : piece.hidden))

describe('text of strangers', () => {
  it.each([
    ['a\0b', ['a', '␀', 'b']],
    ['\u202eabc', ['U+202E', 'abc']],
    ['half \ud800 pair', ['half ', 'U+D800', ' pair']],
    ['x\u{e0041}y', ['x', 'U+E0041', 'y']],
    ['zero\u200bwidth', ['zero', 'U+200B', 'width']],
    ['bell\x07', ['bell', '␇']],
  ])('names what cannot be seen: %j', (text, pieces) => {
    expect(whole(text)).toEqual(pieces)
  })

  it.each(['two\nlines\tand a tab', 'dos\r\nline', '👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'می‌خواهم', 'שלום', '\u200fmark'])(
    'leaves alone what people write: %j',
    (text) => {
      expect(piecesOf(text)).toEqual([text])
    },
  )

  it('is only characters where nothing else can stand', () => {
    expect(plain('a\u202eb')).toBe('aU+202Eb')
  })

  it('is folded at so many characters and lines, and never in the middle of one', () => {
    expect(folded('one\ntwo\nthree', 100, 2)).toEqual({ text: 'one\ntwo', isCut: true })
    expect(folded('12345', 5)).toEqual({ text: '12345', isCut: false })
    expect(folded('a🚀b', 2)).toEqual({ text: 'a', isCut: true })
  })

  it('is the same in blocks as whole, and no block is long', async () => {
    await fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat(400), (text, times) => {
        const long = text.repeat(times)
        const blocks = blocksOf(long)
        expect(blocks.join('')).toBe(long)
        for (const block of blocks) expect(block.length).toBeLessThanOrEqual(16_385)
      }),
    )
  })
})
