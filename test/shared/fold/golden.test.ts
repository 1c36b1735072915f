import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { jsonText, readArchive } from '#codec'
import {
  applyDelta,
  deltaView,
  diffContext,
  exactDelta,
  foldedView,
  points,
  pointView,
  windowView,
} from '#fold'
import { hasShared, SHARED } from '../../kit/shared-folder.ts'
import { foldArchive, windowFrom } from './kit.ts'

// The reference's own answers (LVR1.md, golden data), compared by value: digits of integers exactly, the secret null.

const golden = new URL('format/golden/', SHARED)
const bytesOf = (file: string) => new Uint8Array(readFileSync(new URL(file, golden)))
const textOf = (file: string) => readFileSync(new URL(file, golden), 'utf8').trimEnd()

type Compare = {
  parse(text: string): unknown
  differences(expected: unknown, actual: unknown, options: { redacted: boolean }): unknown[]
}
const compare: Compare | undefined = hasShared
  ? await import(/* @vite-ignore */ new URL('format/compare.mjs', SHARED).href)
  : undefined

function expectSame(actual: unknown, expected: string) {
  if (!compare) throw new Error('nothing to compare with')
  const found = compare.differences(compare.parse(expected), compare.parse(jsonText(actual)), {
    redacted: true,
  })
  expect(found).toEqual([])
}

interface Outcome {
  readonly ok: boolean
  readonly lines?: number
  readonly file?: string
}
interface Case {
  readonly file: string
  readonly head: Readonly<Record<string, Outcome>>
}
const cases: Case[] = hasShared ? JSON.parse(textOf('cases.json')) : []
const pairs = hasShared
  ? readdirSync(new URL('diffs/', golden)).flatMap((file) => /^(.*)\.next\.json$/.exec(file)?.[1] ?? [])
  : []

describe.skipIf(!hasShared)(
  'the fold of every golden archive is the reference’s (skipped without ../shared)',
  () => {
    it.each(cases)('folds $file', ({ file, head }) => {
      const wanted = head.fold_lenient as Outcome
      if (!wanted.ok) return expect(() => foldArchive(bytesOf(file))).toThrow()
      const state = foldArchive(bytesOf(file))
      if (wanted.file) expectSame(typeof state === 'object' ? foldedView(state) : null, textOf(wanted.file))
    })

    it.each(cases)('replays $file', ({ file, head }) => {
      const wanted = head.replay_lenient as Outcome
      if (!wanted.ok) return expect(() => [...points(readArchive(bytesOf(file)))]).toThrow()
      const found = [...points(readArchive(bytesOf(file)))]
      expect(found).toHaveLength(wanted.lines as number)
      if (!wanted.file) return
      const lines = textOf(wanted.file).split('\n')
      for (const [n, point] of found.entries()) {
        const { meta, context, at } = pointView(point, 'full') as Record<string, unknown>
        expectSame({ meta, context, at }, lines[n] as string)
      }
    })

    it.each([
      ['head/gen-100.lvr', 'head/gen-100.fold.json'],
      ['head/gen-2000.lvr', 'head/gen-2000.fold.json'],
      ['seed/gen-100.lvr', 'seed/gen-100.head.fold.json'],
      ['seed/gen-2000.lvr', 'seed/gen-2000.head.fold.json'],
    ])('folds %s', (file, wanted) => {
      const state = foldArchive(bytesOf(file))
      if (typeof state !== 'object') throw new Error('no header')
      expectSame(foldedView(state), textOf(wanted))
    })

    it('replays a longer run', () => {
      const lines = textOf('head/gen-100.replay.jsonl').split('\n')
      const found = [...points(readArchive(bytesOf('head/gen-100.lvr')))]
      expect(found).toHaveLength(lines.length)
      for (const [n, point] of found.entries()) {
        const { meta, context, at } = pointView(point, 'full') as Record<string, unknown>
        expectSame({ meta, context, at }, lines[n] as string)
      }
    })

    it.each(pairs)('tells %s as the reference does, with what it loses', (pair) => {
      const [prev, next] = ['prev', 'next'].map((side) => windowFrom(textOf(`diffs/${pair}.${side}.json`)))
      if (!prev || !next) throw new Error('two windows are needed')
      const delta = diffContext(prev, next)
      const applied = applyDelta(prev, delta)
      const file = `diffs/${pair}.head.json`
      const roundtrip = jsonText(windowView(applied)) === jsonText(windowView(next))
      if (existsSync(new URL(file, golden))) {
        expectSame({ delta: deltaView(delta), applied: windowView(applied), roundtrip }, textOf(file))
      }
      const exact = exactDelta(prev, next)
      expect(exact && jsonText(windowView(applyDelta(prev, exact)))).toBe(jsonText(windowView(next)))
    })
  },
)
