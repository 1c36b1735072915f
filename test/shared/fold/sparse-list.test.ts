import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { SparseList } from '../../../shared/fold/sparse-list.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const itemsOf = <T extends object>(list: SparseList<T>) => {
  const items: [number, T][] = []
  list.visit((item, place) => items.push([place, item]))
  return items
}

describe('a sparse list', () => {
  it('holds what an array would, and every version stays what it was', () => {
    const change = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), gone: fc.boolean() })
    fc.assert(
      fc.property(fc.constantFrom(0, 1, 31, 32, 33, 1023, 1024, 1025), fc.array(change), (size, changes) => {
        const plain: ({ n: number } | undefined)[] = numbered(size)
        const versions = [{ list: SparseList.of(numbered(size)), plain: [...plain] }]
        for (const [n, { at, gone }] of changes.entries()) {
          const place = Math.round(at * plain.length)
          const item = gone ? undefined : { n: -n }
          plain[place] = item
          versions.push({
            list: (versions.at(-1) as (typeof versions)[0]).list.with(place, item),
            plain: [...plain],
          })
        }
        for (const { list, plain } of versions) {
          const there = plain.flatMap((item, place) => (item ? [[place, item]] : []))
          expect(itemsOf(list)).toEqual(there)
          expect([list.count, list.end]).toEqual([there.length, plain.length])
          expect(plain.map((_, place) => list.at(place))).toEqual(plain)
          expect(list.at(plain.length)).toBeUndefined()
        }
      }),
    )
  })

  it('copies one node of each level for a change, however long it is', () => {
    const list = SparseList.of(numbered(100_000))
    const slice = vi.spyOn(Array.prototype, 'slice')
    list.with(77_777, { n: 0 })
    const copied = slice.mock.results.map(({ value }) => (value as unknown[]).length)
    slice.mockRestore()
    expect(copied.length).toBe(4)
    expect(Math.max(...copied)).toBeLessThanOrEqual(32)
  })
})
