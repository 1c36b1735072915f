import { describe, expect, it } from 'vitest'
import { encodeFrame, encodeRecord } from '#codec'
import { pointsQuery } from '#schema'
import { pointsPage } from '#store'
import { demoRecords } from '../../functions/cli/demo-run.ts'
import { StoredRun, say, testArchive } from '../kit/stored-run.ts'

// The head counted a point for every record that changes the window. An archive whose first readable record is no Header
// has none (LVR1.md 4.5), so `points` promised some and then failed with "the archive has no point 0".

const [header, checkpoint] = [...demoRecords({ seed: 1, records: 2 })].map((record) =>
  encodeFrame(encodeRecord(record)),
) as [Uint8Array, Uint8Array]

describe('points', () => {
  it('are none where the first readable record is not a Header, in the ack, its replay and the list', async () => {
    const { archive } = testArchive()
    const run = await StoredRun.begin(archive)
    await run.append(say('first'))
    expect(await run.append(header, checkpoint)).toMatchObject({ frames: 3, points: 0 })
    const { epoch, key } = run
    await run.append(say('later'))
    const again = { offset: 0, epoch, bytes: run.bytes.subarray(0, -say('later').length) }
    expect(await archive.append(key, again)).toMatchObject({ replayed: true, frames: 3, points: 0 })
    const page = await pointsPage(await archive.view(key), pointsQuery.parse({}))
    expect(page).toMatchObject({ items: [], next_cursor: null })
  })

  it('are counted from the batch whose Header is the first readable record', async () => {
    const { archive } = testArchive()
    const run = await StoredRun.begin(archive)
    await run.append(encodeFrame(new TextEncoder().encode('{"New":{}}')))
    expect(await run.append(header, checkpoint)).toMatchObject({ frames: 3, points: 1, unreadable_frames: 1 })
    expect(await run.append(checkpoint)).toMatchObject({ points: 2 })
  })
})
