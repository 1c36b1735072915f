import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MAX_MERGED,
  type Piece,
  pickFinalMerge,
  pickIdleMerge,
  pickMerge,
} from '../../../shared/store/maintain/merge-policy.ts'

const KiB = 1024
const MiB = 1024 * KiB

/** Appends lengths one by one and merges whenever the policy says so. */
function grow(lengths: Iterable<number>) {
  let pieces: Piece[] = []
  let copied = 0
  let total = 0
  let most = 0
  let at = 0
  for (const length of lengths) {
    pieces = [...pieces, { name: String(at++).padStart(9, '0'), length }]
    total += length
    most = Math.max(most, pieces.length)
    for (let merged = pickMerge(pieces); merged; merged = pickMerge(pieces)) {
      copied += sum(merged)
      pieces = swapped(pieces, merged)
    }
  }
  return { pieces, copied: copied / total, most }
}

const sum = (pieces: readonly Piece[]) => pieces.reduce((all, { length }) => all + length, 0)

function swapped(pieces: readonly Piece[], merged: readonly Piece[]): Piece[] {
  const first = pieces.indexOf(merged[0] as Piece)
  expect(pieces.slice(first, first + merged.length)).toEqual(merged)
  const one = { name: (merged[0] as Piece).name, length: sum(merged) }
  return [...pieces.slice(0, first), one, ...pieces.slice(first + merged.length)]
}

describe('a growing archive', () => {
  it.each([
    ['a hundred thousand tiny appends', 100_000, () => 300],
    ['thousands of appends of a few kilobytes', 20_000, (i: number) => 200 + (i % 97) * 80],
    ['thousands of appends of a megabyte', 3000, () => MiB],
    ['large and tiny ones in turn', 4000, (i: number) => (i % 2 ? 9 * MiB : 100)],
    ['appends just under the small limit', 2000, () => 8 * MiB - 1],
    ['appends of 32 MiB', 1000, () => 32 * MiB],
  ])('of %s stays in few objects and copies each byte a few times', (_, count, length) => {
    const { copied, most } = grow(Array.from({ length: count }, (_, i) => length(i)))
    expect(most).toBeLessThanOrEqual(64)
    expect(copied).toBeLessThan(5)
  })

  it('never has 32 small extents at its end', async () => {
    const lengths = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 10 * MiB })),
      { maxLength: 300 },
    )
    await fc.assert(
      fc.property(lengths, (all) => {
        const { pieces, most } = grow(all)
        expect(pieces.filter(({ length }) => length < 8 * MiB).length).toBeLessThanOrEqual(
          32 + pieces.length / 2,
        )
        expect(most).toBeLessThan(100)
      }),
      { numRuns: 100 },
    )
  })

  it('is left alone while it has few small extents', () => {
    const few = Array.from({ length: 31 }, (_, i) => ({ name: `${i + 10}`, length: 1000 }))
    expect(pickMerge(few)).toBeUndefined()
    expect(pickMerge([])).toBeUndefined()
  })
})

describe('an ended archive', () => {
  it('becomes one object, by merges of at most 64 extents', () => {
    let pieces: Piece[] = Array.from({ length: 500 }, (_, i) => ({
      name: String(i).padStart(9, '0'),
      length: 4 * MiB + i,
    }))
    const total = sum(pieces)
    for (let merged = pickFinalMerge(pieces); merged; merged = pickFinalMerge(pieces)) {
      expect(merged.length).toBeLessThanOrEqual(MAX_MERGED)
      expect(sum(merged.filter(({ length }) => length < 5 * MiB))).toBeLessThanOrEqual(48 * MiB)
      pieces = swapped(pieces, merged)
    }
    expect(pieces).toMatchObject([{ length: total }])
  })
})

describe('an archive that rests', () => {
  it('becomes one object while it is small', () => {
    expect(
      pickIdleMerge([
        { name: '0', length: 60 * MiB },
        { name: '1', length: 10 },
      ]),
    ).toHaveLength(2)
  })

  it('is not copied again and again when it is large', () => {
    let pieces: Piece[] = [{ name: '0', length: 1024 * MiB }]
    let copied = 0
    for (let rest = 1; rest <= 1000; rest++) {
      pieces = [...pieces, { name: String(rest).padStart(9, '0'), length: MiB }]
      for (let merged = pickIdleMerge(pieces); merged; merged = pickIdleMerge(pieces)) {
        copied += sum(merged)
        pieces = swapped(pieces, merged)
      }
    }
    expect(pieces.length).toBeLessThan(20)
    expect(copied / sum(pieces)).toBeLessThan(10)
  })
})
