import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pretty } from '../../../functions/viewer/data/pretty.ts'

describe('JSON made readable', () => {
  it('keeps digits, order, repeated names and escapes as they were', () => {
    const json =
      '{"10":1.0,"9":18446744073709551615,"a":-0,"a":1E400,"s":"\\u00e9\\/\\\\","e":[],"o":{},"l":[1,{}]}'
    expect(pretty(json)).toBe(
      [
        '{',
        '  "10": 1.0,',
        '  "9": 18446744073709551615,',
        '  "a": -0,',
        '  "a": 1E400,',
        '  "s": "\\u00e9\\/\\\\",',
        '  "e": [],',
        '  "o": {},',
        '  "l": [',
        '    1,',
        '    {}',
        '  ]',
        '}',
      ].join('\n'),
    )
  })

  it('is as JSON.stringify would indent any value', async () => {
    await fc.assert(
      fc.property(fc.json(), (json) => {
        expect(pretty(json)).toBe(JSON.stringify(JSON.parse(json), null, 2))
      }),
      { examples: [['"\\\\"'], ['{"a\\"b":"}{"}'], ['[[[]],{"":[""]}]']] },
    )
  })

  it('takes strings of megabytes full of escapes', () => {
    const text = JSON.stringify('"\\'.repeat(1 << 20))
    expect(pretty(`[${text}]`)).toBe(`[\n  ${text}\n]`)
  })
})
