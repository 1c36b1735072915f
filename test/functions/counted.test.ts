import { expect, it } from 'vitest'
import { counted } from '../../functions/counted.ts'

it.each([
  [0, '0 runs'],
  [1, '1 run'],
  [2, '2 runs'],
  [1n, '1 run'],
  [18446744073709551615n, '18446744073709551615 runs'],
])('%s is counted as %s', (n, text) => {
  expect(counted(n, 'run')).toBe(text)
})

it('takes the plural of a word that has another', () => {
  expect([1, 2].map((n) => counted(n, 'entry', 'entries'))).toEqual(['1 entry', '2 entries'])
})
