import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppendList } from '#fold'

const isSame = (a: number, b: number) => a === b

describe('AppendList', () => {
  it('keeps every older version as it was, whatever is appended to which', () => {
    const steps = fc.array(fc.tuple(fc.nat(), fc.array(fc.integer(), { maxLength: 5 })), { maxLength: 40 })
    fc.assert(
      fc.property(steps, (appends) => {
        const versions = [{ list: AppendList.of<number>([]), model: [] as number[] }]
        for (const [pick, items] of appends) {
          const base = versions[pick % versions.length] as (typeof versions)[number]
          versions.push({ list: base.list.append(items), model: [...base.model, ...items] })
        }
        for (const { list, model } of versions) {
          expect([...list]).toEqual(model)
          expect(list.length).toBe(model.length)
          expect(list.at(model.length)).toBeUndefined()
          expect(list.from(1)).toEqual(model.slice(1))
        }
      }),
    )
  })

  it('knows what it starts with, shared or not', () => {
    const list = AppendList.of([1, 2, 3])
    const longer = list.append([4])
    expect(longer.startsWith(list, () => false)).toBe(true) // one backing: nothing is compared
    expect(longer.startsWith(AppendList.of([1, 2]), isSame)).toBe(true)
    expect(longer.startsWith(AppendList.of([1, 3]), isSame)).toBe(false)
    expect(list.startsWith(longer, isSame)).toBe(false)
    expect(longer.equals(AppendList.of([1, 2, 3, 4]), isSame)).toBe(true)
    expect(longer.equals(list, isSame)).toBe(false)
  })

  it('never takes two futures of one past for each other', () => {
    const past = AppendList.of([1])
    const [one, other] = [past.append([2]), past.append([3])]
    expect(one.startsWith(other, isSame)).toBe(false)
    expect([...one, ...other]).toEqual([1, 2, 1, 3])
  })

  it('does not copy when the newest version grows', () => {
    let list = AppendList.of<number>([])
    for (let n = 0; n < 200_000; n++) list = list.append([n])
    expect(list.at(199_999)).toBe(199_999)
  })
})
