import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeRecord, jsonText, readRecord } from '#codec'
import {
  applyDelta,
  changeView,
  deltaView,
  diffContext,
  EMPTY_WINDOW,
  exactDelta,
  regionsOf,
  type Window,
  windowView,
} from '#fold'
import type { ContextSnapshot, Entry, Region, RegionDelta } from '#schema'
import { windowFrom } from './kit.ts'

const entry = (content: string, part: Partial<Entry> = {}): Entry => ({
  content,
  tokens: 1,
  kind: { type: 'Text' },
  metadata: null,
  key: null,
  taint: 'Internal',
  ...part,
})
const region = (name: string, contents: string[] = [], part: Partial<Region> = {}): Region => ({
  name,
  kind: 'sliding',
  current_tokens: contents.length,
  max_tokens: 100,
  entries: contents.map((content) => entry(content)),
  description: null,
  ...part,
})
const snapshot = (regions: Region[]): ContextSnapshot => ({
  stage_name: 's',
  total_tokens: 1,
  max_tokens: 9,
  regions,
})
const windowOf = (...regions: Region[]) => windowFrom(snapshot(regions))
const text = (window: Window) => jsonText(windowView(window))

const regions = (names: string[]) =>
  fc.array(
    fc.record({
      name: fc.constantFrom(...names),
      kind: fc.constantFrom('sliding', 'pinned'),
      current_tokens: fc.constantFrom(0, 1, 2n ** 63n),
      max_tokens: fc.constantFrom(100, 200),
      entries: fc.array(
        fc.constantFrom('a', 'b').map((content) => entry(content)),
        { maxLength: 3 },
      ),
      description: fc.constantFrom(null, 'text'),
    }),
    { maxLength: 6 },
  )
const repeating = regions(['x', 'y', 'z']).map((list) => windowFrom(snapshot(list)))
const unique = regions(['u', 'v', 'w', 'x', 'y', 'z']).map((list) =>
  windowFrom(snapshot([...new Map(list.map((one) => [one.name, one])).values()])),
)

describe('exactDelta', () => {
  it('leads from any window to any other, byte for byte', () => {
    fc.assert(
      fc.property(unique, unique, (a, b) => {
        const delta = exactDelta(a, b)
        expect(delta && text(applyDelta(a, delta))).toBe(text(b))
      }),
      { numRuns: 2000 },
    )
  })

  it('leads through windows with repeated names where the form can say it, and says where it cannot', () => {
    fc.assert(
      fc.property(repeating, repeating, (a, b) => {
        const delta = exactDelta(a, b)
        if (delta) expect(text(applyDelta(a, delta))).toBe(text(b))
        else expect(new Set(b.regions.map(({ name }) => name)).size).toBeLessThan(b.regions.length)
      }),
      { numRuns: 2000 },
    )
  })

  it('is empty between equal windows, also with repeated names', () => {
    const window = windowOf(region('a', ['1']), region('b'), region('a', ['2']))
    const again = windowOf(region('a', ['1']), region('b'), region('a', ['2']))
    expect(exactDelta(window, again)?.regions).toEqual([])
  })

  it('edits the first of repeated names in place', () => {
    const before = windowOf(region('a', ['1']), region('b'), region('a', ['2']))
    const after = windowOf(region('a', ['1', '3']), region('b'), region('a', ['2']))
    const delta = exactDelta(before, after)
    expect(delta?.regions.map((operation) => Object.keys(operation)[0])).toEqual(['Append'])
    expect(delta && text(applyDelta(before, delta))).toBe(text(after))
  })

  it('gives the whole window beside the delta where no delta can say it', () => {
    const twice = windowOf(region('a', ['1']), region('a', ['2']))
    expect(exactDelta(EMPTY_WINDOW, twice)).toBeUndefined()
    expect(jsonText(changeView(EMPTY_WINDOW, twice).context)).toBe(text(twice))
    expect(changeView(twice, EMPTY_WINDOW).context).toBeUndefined()
  })

  const a = (part: Partial<Region> = {}) => region('a', ['1'], part)
  it.each<[what: string, before: Window, after: Window, operations: string[]]>([
    ['an entry more', windowOf(a()), windowOf(region('a', ['1', '2'])), ['Append']],
    ['tokens alone', windowOf(a()), windowOf(a({ current_tokens: 5 })), ['Append']],
    ['all entries gone', windowOf(a()), windowOf(region('a')), ['Clear']],
    ['cleared with tokens left', windowOf(a()), windowOf(region('a', [], { current_tokens: 5 })), ['Set']],
    ['cleared with another kind', windowOf(a()), windowOf(region('a', [], { kind: 'pinned' })), ['Set']],
    ['a description alone', windowOf(a()), windowOf(a({ description: 'd' })), ['Set']],
    ['a reordering', windowOf(a(), region('b')), windowOf(region('b'), a()), ['Remove', 'Set']],
    ['a region in front', windowOf(a()), windowOf(region('b'), a()), ['Remove', 'Set', 'Set']],
    ['a region gone', windowOf(a(), region('b')), windowOf(region('b')), ['Remove']],
  ])('says %s', (_what, before, after, operations) => {
    const delta = exactDelta(before, after)
    expect(delta?.regions.map((operation) => Object.keys(operation)[0])).toEqual(operations)
    expect(delta && text(applyDelta(before, delta))).toBe(text(after))
  })

  it('tells spellings of one number apart, which the daemon’s diff takes for equal', () => {
    const spelled = (n: string) =>
      windowFrom(
        `{"stage_name":"","total_tokens":0,"max_tokens":0,"regions":[{"name":"a","kind":"k","current_tokens":0,"max_tokens":0,"entries":[{"content":"","tokens":0,"metadata":${n}}]}]}`,
      )
    expect(diffContext(spelled('1.0'), spelled('1.00')).regions).toEqual([])
    expect(exactDelta(spelled('1.0'), spelled('1.00'))?.regions).toHaveLength(1)
  })
})

describe('diffContext', () => {
  it('leads from any window to any other but for what the format loses', () => {
    // Regions keep their place and names, and only what a daemon changes together changes: nothing is lost then.
    const steps = fc.array(fc.constantFrom('grow', 'clear', 'rewrite', 'remove', 'add', 'tokens'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(steps, (kinds) => {
        let list = [region('a', ['1']), region('b', ['2'])]
        for (const [n, kind] of kinds.entries()) {
          const before = windowOf(...list)
          const first = list[0]
          if (kind === 'add' || !first) list = [...list, region(`r${n}`, [`${n}`])]
          else if (kind === 'grow')
            list = [region(first.name, [...first.entries.map((e) => e.content), `${n}`]), ...list.slice(1)]
          else if (kind === 'clear') list = [region(first.name), ...list.slice(1)]
          else if (kind === 'rewrite') list = [region(first.name, [`${n}`, 'x']), ...list.slice(1)]
          else if (kind === 'tokens') list = [{ ...first, current_tokens: 50 + n }, ...list.slice(1)]
          else list = list.slice(1)
          const after = windowOf(...list)
          expect(text(applyDelta(before, diffContext(before, after)))).toBe(text(after))
        }
      }),
    )
  })

  it('loses a reordering, and tokens left by a Clear, as the format does', () => {
    const before = windowOf(region('a', ['1']), region('b'))
    expect(diffContext(before, windowOf(region('b'), region('a', ['1']))).regions).toEqual([])
    const left = windowOf(region('a', [], { current_tokens: 5 }), region('b'))
    expect(diffContext(before, left).regions).toEqual([{ Clear: { name: 'a' } }])
  })
})

describe('applyDelta', () => {
  it('gives the same windows when a delta is written out and read again', () => {
    fc.assert(
      fc.property(unique, unique, (a, b) => {
        const delta = exactDelta(a, b)
        const payload = new TextEncoder().encode(
          jsonText({ ContextDiff: { delta: delta && deltaView(delta), at: 0 } }),
        )
        const record = readRecord(payload)
        expect(record.kind === 'ContextDiff' && text(applyDelta(a, record.delta))).toBe(text(b))
      }),
    )
  })

  it('ignores what it does not find, and removes every region of a name', () => {
    const base = windowOf(region('a', ['1']), region('b'), region('a', ['2']))
    const payload = encodeRecord({
      ContextDiff: {
        delta: {
          stage_name: 't',
          total_tokens: 2,
          max_tokens: 3,
          regions: [
            { Append: { name: 'none', entries: [entry('lost')], current_tokens: 1 } },
            { Clear: { name: 'none' } },
            { Remove: { name: 'none' } },
            { Remove: { name: 'a' } },
            { Set: region('a', ['new']) },
          ],
        },
        at: 0,
      },
    })
    const record = readRecord(payload)
    const after = record.kind === 'ContextDiff' ? applyDelta(base, record.delta) : base
    expect(after.regions.map(({ name }) => name)).toEqual(['b', 'a'])
    expect(after.stage_name).toBe('t')
    expect(base.regions).toHaveLength(3)
  })

  it('stays linear with very many regions and operations', () => {
    const many = Array.from({ length: 100_000 }, (_, n) => ({
      name: `r${n}`,
      kind: 'k',
      current_tokens: 0,
      max_tokens: 0,
      entries: [],
      description: null,
    }))
    const delta = {
      stage_name: '',
      total_tokens: 0,
      max_tokens: 0,
      regions: many.map(({ name }) => ({ Clear: { name } })),
    }
    const base = applyDelta(EMPTY_WINDOW, { ...delta, regions: many.map((one) => ({ Set: one })) })
    // Quadratic work here would be ten billion comparisons.
    expect(applyDelta(base, delta).regions).toHaveLength(100_000)
  }, 5000)
})

describe('many operations in one delta', () => {
  it('do what they do one by one', () => {
    const names = fc.constantFrom('u', 'v', 'w', 'x')
    const operation = fc.oneof(
      names.map((name) => ({ Set: region(name, ['set']) })),
      fc
        .tuple(names, fc.nat(9))
        .map(([name, n]) => ({ Append: { name, entries: [entry(`${n}`)], current_tokens: n } })),
      names.map((name) => ({ Clear: { name } })),
      names.map((name) => ({ Remove: { name } })),
    )
    const deltaOf = (operations: RegionDelta[]) => {
      const delta = { stage_name: 's', total_tokens: 1, max_tokens: 9, regions: operations }
      const record = readRecord(encodeRecord({ ContextDiff: { delta, at: 0 } }))
      if (record.kind !== 'ContextDiff') throw new Error('a delta is needed')
      return record.delta
    }
    fc.assert(
      fc.property(
        repeating,
        fc.array(operation, { minLength: 20, maxLength: 60, size: 'max' }),
        (base, operations) => {
          const together = applyDelta(base, deltaOf(operations))
          const oneByOne = operations.reduce((window, one) => applyDelta(window, deltaOf([one])), base)
          expect(
            together.regions.map((one) => jsonText(windowView({ ...base, regions: regionsOf([one]) }))),
          ).toEqual(
            oneByOne.regions.map((one) => jsonText(windowView({ ...base, regions: regionsOf([one]) }))),
          )
        },
      ),
    )
  })
})
