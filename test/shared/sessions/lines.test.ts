import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LINE_BYTES_MAX, type Line, LineSplitter } from '../../../shared/sessions/lines.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (line: Line) => line.content && new TextDecoder().decode(line.content)

function split(file: Uint8Array, chunk = file.length): Line[] {
  const lines = new LineSplitter()
  const found: Line[] = []
  for (let at = 0; at < file.length; at += Math.max(1, chunk))
    found.push(...lines.push(file.subarray(at, at + chunk)))
  const rest = lines.rest()
  return rest ? [...found, rest] : found
}

describe('lines', () => {
  it('end with LF and nothing else', () => {
    const lines = split(bytes('a\u2028b\u0085c\rd\n\r\ne\r\nf'))
    expect(lines.map(text)).toEqual(['a\u2028b\u0085c\rd', '', 'e', 'f'])
    expect(lines.map(({ line, offset, bytes }) => [line, offset, bytes])).toEqual([
      [1, 0, 10],
      [2, 11, 1],
      [3, 13, 2],
      [4, 16, 1],
    ])
  })

  it('are the same however the bytes are cut', () => {
    const letters = fc.constantFrom('\n', '\r', '\u0000', ' ', '\t', 'x', '\ufeff', '{}')
    fc.assert(
      fc.property(fc.array(letters), fc.integer({ min: 1, max: 4 }), (parts, chunk) => {
        const file = bytes(parts.join(''))
        const plain = (lines: Line[]) => lines.map((line) => ({ ...line, content: text(line) }))
        expect(plain(split(file, chunk))).toEqual(plain(split(file)))
      }),
    )
  })

  it('lose their padding, and say so', () => {
    const [padded, nothing, inside] = split(bytes('\u0000\u0000{}\u0000\r\n\u0000\u0000\n{\u0000}\n'))
    expect(padded && { ...padded, content: text(padded) }).toMatchObject({
      content: '{}',
      padded: true,
      blank: false,
    })
    expect(nothing).toMatchObject({ content: new Uint8Array(), padded: true, blank: false })
    expect(inside && text(inside)).toBe('{\u0000}')
  })

  it('are blank when they hold spaces and tabs only, and only the first loses a BOM', () => {
    const lines = split(bytes('\ufeff \t\r\n\ufeff\n'))
    expect(lines.map(({ blank }) => blank)).toEqual([true, false])
  })
})

describe('a line longer than what is held', () => {
  const chunk = new Uint8Array(8 * 1024 * 1024).fill(0x78)
  const nuls = new Uint8Array(chunk.length)
  const over = LINE_BYTES_MAX / chunk.length + 1
  const many = (piece: Uint8Array) => Array.from({ length: over }, () => piece)
  const lines = (...pieces: Uint8Array[]) => {
    const splitter = new LineSplitter()
    return pieces.flatMap((piece) => [...splitter.push(piece)])
  }

  it('is given without its content, and the next one whole', () => {
    const [long, next] = lines(...many(chunk), bytes('\n{}\n'))
    expect(long).toMatchObject({
      content: undefined,
      line: 1,
      offset: 0,
      bytes: over * chunk.length,
      blank: false,
    })
    expect(next && text(next)).toBe('{}')
    expect(next).toMatchObject({ line: 2, offset: over * chunk.length + 1 })
  })

  it('is a record when only its padding is that long', () => {
    const [before] = lines(...many(nuls), bytes('{"a":1}\r\n'))
    expect(before && text(before)).toBe('{"a":1}\r')
    expect(before?.padded).toBe(true)
    const [behind] = lines(bytes('{"a":1}'), ...many(nuls), bytes('\n'))
    expect(behind && text(behind)).toBe('{"a":1}')
    const [between] = lines(bytes('{'), ...many(nuls), bytes('}\n'))
    expect(between?.content).toBeUndefined()
    const [nothing] = lines(...many(nuls), bytes('\n'))
    expect(nothing).toMatchObject({ content: new Uint8Array(), padded: true })
  })

  it('is none when it is blank', () => {
    const [blank] = lines(...many(new Uint8Array(chunk.length).fill(0x20)), bytes('\n'))
    expect(blank).toMatchObject({ content: undefined, blank: true })
  })
})
