import { expect, it } from 'vitest'
import { sentence, tick } from '../../../functions/viewer/data/format.ts'

it('no two labels of a time axis read the same', () => {
  for (const step of [1, 30, 60, 3600, 86_400]) {
    const labels = [1, 2, 3].map((n) => tick(1_790_000_000 + n * step, step))
    expect(new Set(labels).size).toBe(3)
  }
})

it('what a problem says begins as a sentence does', () => {
  expect(sentence('the token is unknown')).toBe('The token is unknown.')
})
