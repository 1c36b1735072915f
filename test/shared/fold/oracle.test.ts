import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeArchive, jsonText, readArchive } from '#codec'
import { type FoldState, foldedView, points, pointView } from '#fold'
import type { JournalRecord } from '#schema'
import { anyRecord } from '../../kit/arbitraries.ts'
import { describeShared, sharedPath } from '../../kit/shared-folder.ts'
import { foldArchive } from './kit.ts'

// A second fold, written from the format's rules by other hands and sharing nothing with ours, against any records.

// biome-ignore lint/suspicious/noExplicitAny: plain JavaScript beside the checkout
const load = (file: string): Promise<any> => import(sharedPath(`acceptance/lib/${file}`))
const headers = anyRecord.filter((record) => 'Header' in record)
const runs = fc
  .tuple(headers, fc.array(anyRecord, { maxLength: 30 }))
  .map(([header, rest]): JournalRecord[] => [header, ...rest])

describeShared('a plain fold of the same bytes', () => {
  it('gives the same state and the same points for any records', async () => {
    const [{ fold, records, redacted }, { parse, difference }, { Folded, RunMeta, ContextSnapshot }] =
      await Promise.all(['fold.mjs', 'json.mjs', 'schema.mjs'].map(load))
    fc.assert(
      fc.property(runs, (run) => {
        const bytes = encodeArchive(run)
        const expected = fold(records(Buffer.from(bytes)))
        const folded = Folded(parse(jsonText(foldedView(foldArchive(bytes) as FoldState))))
        expect(difference(folded, { ...expected.folded, meta: redacted(expected.folded.meta) })).toBeNull()
        const found = [...points(readArchive(bytes))].map((point) => {
          const { meta, context, ...place } = parse(jsonText(pointView(point, 'full')))
          return { ...place, meta: RunMeta(meta), context: ContextSnapshot(context) }
        })
        const wanted = expected.points.map((point: { meta: object }) => ({
          ...point,
          meta: redacted(point.meta),
        }))
        expect(difference(found, wanted)).toBeNull()
      }),
      { numRuns: 300 },
    )
  })
})
