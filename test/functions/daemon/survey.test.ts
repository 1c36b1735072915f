import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { surveyFrames } from '../../../functions/daemon/survey.ts'
import { archiveOf, frameOf, statusRecord } from './kit.ts'

async function* whole(bytes: Uint8Array) {
  yield bytes
}
const surveyed = (bytes: Uint8Array, start = 0) => surveyFrames(whole(bytes.subarray(start)), start)

describe('how far a file is whole', () => {
  it('is told the same from any frame boundary on', async () => {
    const first = archiveOf('a', 'b')
    const bytes = Buffer.concat([first, frameOf('c'), frameOf('d').subarray(0, -2)])
    const { end, torn } = await surveyed(bytes)
    expect(await surveyed(bytes, first.length)).toMatchObject({ end, torn })
    expect(end).toBe(archiveOf('a', 'b', 'c').length)
  })

  it('knows the status that the last record told', async () => {
    expect(await surveyed(archiveOf('a'))).toMatchObject({ status: undefined })
    const { status } = await surveyed(archiveOf(statusRecord('running'), statusRecord('complete'), 'a'))
    expect(status).toBe('complete')
  })

  it('is never certain of anything that bytes written later take back', async () => {
    const text = fc.string({ maxLength: 30 }).map((content) => frameOf(content))
    const torn = fc
      .tuple(text, fc.integer({ min: 1, max: 60 }))
      .map(([frame, lost]) => frame.subarray(0, Math.max(1, frame.length - lost)))
    const piece = fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: torn })
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (pieces) => {
        const bytes = Buffer.concat([archiveOf(), ...pieces])
        const { end } = await surveyed(bytes)
        for (let cut = archiveOf().length; cut <= bytes.length; cut++) {
          const { certain } = await surveyed(bytes.subarray(0, cut))
          expect(certain).toBeLessThanOrEqual(end)
        }
      }),
      { numRuns: 150 },
    )
  })
})
