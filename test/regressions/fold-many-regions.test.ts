import { describe, expect, it } from 'vitest'
import type { HeldRegionDelta } from '#codec'
import { applyDelta, EMPTY_WINDOW, type Region, regionsOf, windowOf } from '#fold'

// Every delta copied all regions of the window and looked at each: 5,000 deltas of one operation on a window of 100,000
// empty regions, 7 MB in all, took 91 seconds to fold (P9).

const REGIONS = 10_000
const DELTAS = 500
const totals = { stage_name: '', total_tokens: 0, max_tokens: 0 }

/** A window of regions that count how often one is looked at. */
function watched(nameOf: (n: number) => string) {
  const looks = { count: 0 }
  const held = { kind: 'k', current_tokens: 0, max_tokens: 0, entries: [], description: null }
  const plain = windowOf({
    ...totals,
    regions: Array.from({ length: REGIONS }, (_, n) => ({ ...held, name: nameOf(n) })),
  })
  const regions = plain.regions.map(
    (region) =>
      new Proxy(region, {
        get(target, key) {
          looks.count++
          return target[key as keyof Region]
        },
      }),
  )
  return { window: { ...EMPTY_WINDOW, regions: regionsOf(regions) }, looks }
}

const append = (name: string): HeldRegionDelta => ({ Append: { name, entries: [], current_tokens: 1 } })
const set = (name: string): HeldRegionDelta => ({
  Set: { name, kind: 'k', current_tokens: 0, max_tokens: 0, entries: [], description: null },
})

describe('a delta on a window of very many regions', () => {
  it.each<[string, (n: number) => string, (n: number) => HeldRegionDelta[]]>([
    ['changes one', (n) => `r${n}`, (n) => [append(`r${n * 7}`)]],
    ['changes the first of all those of one name', () => 'r', () => [append('r'), { Clear: { name: 'r' } }]],
    ['finds none', (n) => `r${n}`, () => [append('x'), { Clear: { name: 'y' } }, { Remove: { name: 'z' } }]],
    ['removes one and sets it again', (n) => `r${n}`, (n) => [{ Remove: { name: `r${n}` } }, set(`r${n}`)]],
  ])('looks at no others where it %s', (_what, nameOf, operations) => {
    const { window, looks } = watched(nameOf)
    let last = window
    for (let n = 0; n < DELTAS; n++) last = applyDelta(last, { ...totals, regions: operations(n) })
    // Once every name is looked at, then a few members of what changes.
    expect(looks.count).toBeLessThan(REGIONS + 20 * DELTAS)
    expect(last.regions).toHaveLength(REGIONS)
  })
})
