import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText } from '#codec'
import { Ends } from '../../../shared/codec/json/ends.ts'
import { assemble } from '../../../shared/codec/json/wasm/assemble.ts'
import { ENDS } from '../../../shared/codec/json/wasm/ends.ts'
import { QUOTES } from '../../../shared/codec/json/wasm/quotes.ts'
import { anyJson, assertProperty } from '../../kit/arbitraries.ts'

/** What is used of it here; Node's types do not declare it. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    validate(bytes: Uint8Array): boolean
    Module: new (bytes: Uint8Array) => object
    Instance: new (module: object) => { exports: { f(): number } }
  }
}

const ascii = (text: string) => new TextEncoder().encode(text)

/** Every end that is found from `at` on, or null. */
function endsOf(bytes: Uint8Array, at: number, plain: boolean): number[] | null {
  const ends = new Ends(bytes, plain)
  if (!ends.find(at)) return null
  return Array.from({ length: ends.count + 1 }, (_, n) => ends.end(n))
}

const both = (bytes: Uint8Array, at = 0) => {
  const found = endsOf(bytes, at, false)
  expect(found).toEqual(endsOf(bytes, at, true))
  return found
}

describe('the ends of the items of a list', () => {
  it('are found by the kernel, which WebAssembly takes', () => {
    expect(WebAssembly.validate(assemble(ENDS + QUOTES))).toBe(true)
  })

  it('are those of JSON, wherever the list stands', () => {
    assertProperty(
      fc.property(fc.array(anyJson, { maxLength: 6 }), fc.nat(70), (items, before) => {
        const texts = items.map((item) => jsonText(item))
        const bytes = ascii(`${' '.repeat(before)}[${texts.join(',')}] "[{`)
        let at = before + 1
        const expected = texts.flatMap((text) => {
          const end = at + ascii(text).length
          at = end + 1
          return /^[[{]/.test(text) ? [end] : []
        })
        const length = ascii(`[${texts.join(',')}]`).length
        expect(both(bytes, before)).toEqual([...expected, before + length])
      }),
      { numRuns: 400 },
    )
  })

  it('are told the same by the kernel and without it, of any bytes', () => {
    const marks = fc.constantFrom(...ascii('[]{}[]{}"\\"\\,:1Yy_\x7f'))
    assertProperty(
      fc.property(
        fc.array(fc.oneof({ weight: 6, arbitrary: marks }, fc.nat(255)), { maxLength: 300 }),
        fc.nat(80),
        (letters, before) => {
          both(Uint8Array.from([...ascii(`${' '.repeat(before)}[`), ...letters]), before)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('see which quotes are escaped, however long the row of backslashes, and across every block', () => {
    for (let before = 0; before < 70; before++) {
      for (let row = 0; row < 140; row++) {
        const text = `[${' '.repeat(before)}{"a":"${'\\'.repeat(row)}"${row % 2 ? '"' : ''}},{"b]":"]"}]`
        const bytes = ascii(text)
        const first = text.indexOf('},{') + 1
        expect(endsOf(bytes, 0, false)).toEqual([first, bytes.length - 1, bytes.length])
        expect(endsOf(bytes, 0, true)).toEqual([first, bytes.length - 1, bytes.length])
      }
    }
  })

  it('are none where the list is not closed', () => {
    for (const text of ['[', '[{}', '[{}, "]', '[{"a":"\\"]}', '[[[[]]]', ''])
      expect(both(ascii(text))).toBeNull()
  })

  it('are found in a text that is larger than the kernel takes', () => {
    const item = `{"content":"${'x\\"]'.repeat(1000)}"}`
    const count = 600
    const bytes = ascii(`[${Array.from({ length: count }, () => item).join(',')}]`)
    const expected = Array.from({ length: count }, (_, n) => (n + 1) * (item.length + 1))
    expect(endsOf(bytes, 0, false)).toEqual([...expected, bytes.length])
  })

  it('are told for each of several texts that are looked at in turn', () => {
    const [one, two] = [new Ends(ascii('[{},{}]')), new Ends(ascii('[[1,2]]'))]
    expect([one.find(0), one.count, one.end(2)]).toEqual([true, 2, 7])
    expect([two.find(0), two.count, two.end(1)]).toEqual([true, 1, 7])
    expect([one.find(4), one.count, one.end(0)]).toEqual([true, 0, 6])
  })

  it.each([
    ['[]', true],
    ['[{"a":1}]', true],
    ['[{"a":[{}]},{}]', true],
    ['[ {}]', false],
    ['[{} ]', false],
    ['[{}, {}]', false],
    ['[1]', false],
    ['[{},1]', false],
    ['[1,{}]', false],
    ['[[]]', false],
    ['[ ]', false],
    ['[{}', false],
  ])('of %s: only objects and commas is %s', (text, expected) => {
    expect(new Ends(ascii(text)).isOfObjects(0)).toBe(expected)
    expect(new Ends(ascii(text), true).isOfObjects(0)).toBe(expected)
  })
})

describe('the assembler', () => {
  it('refuses what it does not know', () => {
    for (const text of [
      '(func $f (frobnicate))',
      '(func $f (local.get $x))',
      '(func $f (param $a f99))',
      ')',
    ]) {
      expect(() => assemble(text)).toThrow(SyntaxError)
    }
  })

  it('writes numbers of any size', () => {
    for (const number of [0, 1, 63, 64, 127, 128, 8191, 8192, 2 ** 31 - 1, -1, -64, -65, -(2 ** 31)]) {
      const bytes = assemble(`(func $f (result i32) (i32.const ${number}))`)
      const { f } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports
      expect(f()).toBe(number)
    }
  })
})
