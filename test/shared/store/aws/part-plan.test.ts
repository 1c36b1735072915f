import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  COPY_PART,
  lengthOf,
  MIN_PART,
  type PlannedPart,
  planParts,
  UPLOAD_PART,
} from '../../../../shared/store/aws/part-plan.ts'
import type { ComposePart } from '../../../../shared/store/ports.ts'

const MIB = 1_048_576

const copy = (name: string, start: number, end: number): ComposePart => ({
  copy: name,
  range: { start, end },
})

/** What a plan says, as ranges of sources, in order and joined where they touch. */
function told(parts: readonly (ComposePart | PlannedPart)[]): string[] {
  const flat = parts.flatMap((part): readonly ComposePart[] => ('pack' in part ? part.pack : [part]))
  const ranges: { name: string; start: number; end: number }[] = []
  for (const part of flat) {
    const next =
      'copy' in part
        ? { name: part.copy, ...part.range }
        : { name: 'own', start: part.bytes.byteOffset, end: part.bytes.byteOffset + part.bytes.length }
    const last = ranges.at(-1)
    if (last?.name === next.name && last.end === next.start) last.end = next.end
    else if (next.end > next.start) ranges.push(next)
  }
  return ranges.map(({ name, start, end }) => `${name} ${start}-${end}`)
}

const bytesOf = (part: PlannedPart) => ('pack' in part ? part.length : part.range.end - part.range.start)

describe('a plan of parts', () => {
  const own = new Uint8Array(12 * MIB)
  const size = fc.oneof(
    fc.integer({ min: 0, max: 4096 }),
    fc.integer({ min: MIN_PART - 2, max: MIN_PART + 2 }),
    fc.integer({ min: 1, max: 20 * MIB }),
    fc.integer({ min: COPY_PART - 1, max: 3 * COPY_PART }),
  )
  const copies = fc.record({ start: fc.oneof(fc.constant(0), size), size }).map((r) => ({ ...r, own: false }))
  const bytes = fc
    .record({ start: fc.constant(0), size: fc.integer({ min: 0, max: own.length }) })
    .map((r) => ({ ...r, own: true }))
  const parts = fc
    .array(fc.oneof(copies, bytes), { maxLength: 12 })
    .map((list) =>
      list.map(
        (part, n): ComposePart =>
          part.own
            ? { bytes: own.subarray(part.start, part.start + part.size) }
            : copy(`object ${n}`, part.start, part.start + part.size),
      ),
    )

  it('holds every byte once, in order', () => {
    fc.assert(
      fc.property(parts, (list) => {
        expect(told(planParts(list))).toEqual(told(list))
      }),
    )
  })

  it('keeps to what S3 allows of parts', () => {
    fc.assert(
      fc.property(parts, (list) => {
        const plan = planParts(list)
        for (const part of plan.slice(0, -1)) expect(bytesOf(part)).toBeGreaterThanOrEqual(MIN_PART)
        for (const part of plan) {
          if ('pack' in part) {
            expect(part.length).toBeLessThanOrEqual(UPLOAD_PART)
            expect(part.pack.reduce((sum, piece) => sum + lengthOf(piece), 0)).toBe(part.length)
          } else {
            expect(bytesOf(part)).toBeLessThanOrEqual(COPY_PART)
            expect(part.range.end, 'the source is larger than 5 MiB').toBeGreaterThan(MIN_PART)
          }
        }
      }),
    )
  })

  it('copies large sources without reading more of them than a small neighbour needs', () => {
    const plan = planParts([copy('small', 0, 100), copy('large', 0, 64 * MIB), copy('tail', 0, 7)])
    expect(plan).toEqual([
      { pack: [copy('small', 0, 100), copy('large', 0, MIN_PART - 100)], length: MIN_PART },
      copy('large', MIN_PART - 100, 64 * MIB),
      { pack: [copy('tail', 0, 7)], length: 7 },
    ])
  })

  it('reads a source of exactly 5 MiB, of which S3 copies no range', () => {
    expect(planParts([copy('a', 0, MIN_PART), copy('b', 0, 1)])).toEqual([
      { pack: [copy('a', 0, MIN_PART), copy('b', 0, 1)], length: MIN_PART + 1 },
    ])
  })

  it('refuses more parts than S3 takes', () => {
    const huge = copy('huge', 0, 10_001 * COPY_PART)
    expect(() => planParts([huge])).toThrow('S3 takes 10000')
  })
})
