import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HeldRegion, HeldRegionDelta } from '#codec'
import { applyDelta, type Window, windowOf } from '#fold'

// LVR1.md 4.2 said over plain arrays, for windows below and far above the size from which regions are kept otherwise.

interface Plain {
  readonly name: string
  readonly tokens: number
}

const totals = { stage_name: '', total_tokens: 0, max_tokens: 0 }
const held = ({ name, tokens }: Plain): HeldRegion => ({
  name,
  kind: 'k',
  current_tokens: tokens,
  max_tokens: 9,
  entries: [],
  description: null,
})

function applyPlainly(regions: Plain[], operation: HeldRegionDelta): Plain[] {
  if ('Remove' in operation) return regions.filter(({ name }) => name !== operation.Remove.name)
  const [body] = Object.values(operation) as [{ name: string; current_tokens?: number }]
  const changed = { name: body.name, tokens: body.current_tokens ?? 0 }
  const place = regions.findIndex(({ name }) => name === body.name)
  if (place >= 0) return regions.with(place, changed)
  return 'Set' in operation ? [...regions, changed] : regions
}

const plainOf = ({ regions }: Window): Plain[] =>
  regions.map(({ name, current_tokens }) => ({ name, tokens: Number(current_tokens) }))

// Some of these names repeat in most windows, others come and go.
const name = fc.nat(60).map((n) => `r${n}`)
const plain = fc.record({ name, tokens: fc.nat(9) })
const operation: fc.Arbitrary<HeldRegionDelta> = fc.oneof(
  plain.map((one) => ({ Set: held(one) })),
  plain.map((one) => ({ Append: { name: one.name, entries: [], current_tokens: one.tokens } })),
  name.map((gone) => ({ Clear: { name: gone } })),
  name.map((gone) => ({ Remove: { name: gone } })),
)
const regions = fc.oneof(
  fc.array(plain, { maxLength: 20 }),
  fc.array(plain, { minLength: 17, maxLength: 150, size: 'max' }),
)

describe('the regions of a window', () => {
  it('become what plain arrays become, in one delta or in many, and older windows stay what they were', () => {
    const deltas = fc.array(
      fc.record({ from: fc.nat(), operations: fc.array(operation, { maxLength: 40, size: 'max' }) }),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(regions, deltas, fc.boolean(), (first, steps, isOneLine) => {
        const versions = [{ window: windowOf({ ...totals, regions: first.map(held) }), expected: first }]
        for (const { from, operations } of steps) {
          // Mostly the newest version is edited; an older one may be too.
          const base = versions.at(isOneLine ? -1 : from % versions.length) as (typeof versions)[0]
          versions.push({
            window: applyDelta(base.window, { ...totals, regions: operations }),
            expected: operations.reduce(applyPlainly, base.expected),
          })
        }
        for (const { window, expected } of versions) {
          expect(plainOf(window)).toEqual(expected)
          expect(window.regions).toHaveLength(expected.length)
        }
      }),
      { numRuns: 500 },
    )
  })
})
