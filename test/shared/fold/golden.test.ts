import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { jsonText, readArchive } from '#codec'
import {
  applyDelta,
  deltaView,
  diffContext,
  exactDelta,
  foldedView,
  type Point,
  points,
  pointView,
  windowView,
} from '#fold'
import { differences, goldenBytes, goldenCases, goldenLines } from '../../kit/golden.ts'
import { describeShared, hasShared, sharedPath } from '../../kit/shared-folder.ts'
import { foldArchive, windowFrom } from './kit.ts'

const line = (file: string) => goldenLines(file)[0] as string
const same = async (actual: unknown, expected: string) =>
  expect(await differences(expected, jsonText(actual))).toEqual([])

/** The reference's points carry no numbers. */
function bare(point: Point) {
  const { meta, context, at } = pointView(point, 'full') as Record<string, unknown>
  return { meta, context, at }
}

function foldedOf(file: string) {
  const state = foldArchive(goldenBytes(file))
  return typeof state === 'object' ? foldedView(state) : null
}

describeShared('the reference’s folds, points and diffs', () => {
  const cases = hasShared ? goldenCases() : []

  it.each(cases)('folds $file', async ({ file, head: { fold_lenient: wanted } }) => {
    if (!wanted.ok) expect(() => foldedOf(file)).toThrow()
    else if (wanted.file) await same(foldedOf(file), line(wanted.file))
    else expect(foldedOf(file)).not.toBeNull()
  })

  it.each(cases)('replays $file', async ({ file, head: { replay_lenient: wanted } }) => {
    const replay = () => [...points(readArchive(goldenBytes(file)))]
    if (!wanted.ok) return expect(replay).toThrow()
    const found = replay()
    expect(found).toHaveLength(wanted.lines as number)
    const lines = wanted.file ? goldenLines(wanted.file) : []
    for (const [n, expected] of lines.entries()) await same(bare(found[n] as Point), expected)
  })

  it.each([
    ['head/gen-100.lvr', 'head/gen-100.fold.json'],
    ['head/gen-2000.lvr', 'head/gen-2000.fold.json'],
    ['seed/gen-100.lvr', 'seed/gen-100.head.fold.json'],
    ['seed/gen-2000.lvr', 'seed/gen-2000.head.fold.json'],
  ])('folds %s', async (file, wanted) => {
    await same(foldedOf(file), goldenLines(wanted).join('\n'))
  })

  it('replays a longer run', async () => {
    const lines = goldenLines('head/gen-100.replay.jsonl')
    const found = [...points(readArchive(goldenBytes('head/gen-100.lvr')))]
    expect(found).toHaveLength(lines.length)
    for (const [n, point] of found.entries()) await same(bare(point), lines[n] as string)
  })

  const folder = hasShared ? readdirSync(sharedPath('format/golden/diffs')) : []
  const pairs = folder.flatMap((file) => /^(.*)\.next\.json$/.exec(file)?.[1] ?? [])

  it.each(pairs)('tells the change %s as the reference does, with what it loses', async (pair) => {
    const window = (side: string) => windowFrom(line(`diffs/${pair}.${side}.json`))
    const [prev, next] = [window('prev'), window('next')]
    const text = jsonText(windowView(next))
    const delta = diffContext(prev, next)
    const applied = windowView(applyDelta(prev, delta))
    const roundtrip = jsonText(applied) === text
    await same({ delta: deltaView(delta), applied, roundtrip }, line(`diffs/${pair}.head.json`))
    const exact = exactDelta(prev, next)
    expect(exact && jsonText(windowView(applyDelta(prev, exact)))).toBe(text)
  })
})
