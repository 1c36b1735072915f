import { describe, expect, it } from 'vitest'
import { readStrict } from '#codec'
import { type Folding, type FoldState, fold, foldedView } from '#fold'
import type { FoldQuery, JournalRecord } from '#schema'
import { foldAnswer, foldTag } from '#store'
import { demoRecords } from '../../../../functions/cli/demo-run.ts'
import { archiveOf, seen, storedRun, withPayloads } from './kit.ts'

const records = [...demoRecords({ seed: 41, records: 90, entryBytes: 800 })]
const bytes = archiveOf(records)
const run = await storedRun(bytes, 4)

/** The answer as a fold from the first frame gives it. */
function plain(seq: number, parts?: FoldQuery['parts']) {
  let folding: Folding
  let offset = 6
  for (const { frame, record } of readStrict(bytes)) {
    if (frame.seq === seq) break
    folding = fold(folding, record)
    offset = frame.offset + frame.length
  }
  const state = folding as FoldState
  const point = state.points > 0 ? state.points - 1 : null
  return seen({ run_id: 'run-1', seq, offset, point, folded: foldedView(state, parts) })
}
const ask = async (query: FoldQuery) => seen(await foldAnswer(run.view, query))
const times = records.map((record) => (Object.values(record)[0] as { at?: number }).at)

describe('fold', () => {
  it('gives the present state', async () => {
    expect(await ask({})).toEqual(plain(90))
  })

  it('gives the state after any number of frames', async () => {
    for (const seq of [1, 2, 3, 17, 44, 89, 90]) expect(await ask({ seq })).toEqual(plain(seq))
  })

  it('gives the state after any point', async () => {
    const seqs = records.flatMap((record, seq) =>
      'Progress' in record || 'ContextCheckpoint' in record ? [seq] : [],
    )
    for (const point of [0, 1, 5, seqs.length - 1])
      expect(await ask({ point })).toEqual(plain((seqs[point] as number) + 1))
  })

  it('gives the state after the last frame of a time, also where times run backwards', async () => {
    const at = times[50] as number
    expect(await ask({ at })).toEqual(
      plain(times.findLastIndex((time) => time !== undefined && time <= at) + 1),
    )
    const status = (time: number): JournalRecord => ({ StatusChanged: { status: 'running', at: time } })
    const back = await storedRun(
      archiveOf([records[0] as JournalRecord, status(100), status(50), status(200), status(60)]),
      2,
    )
    const seqAt = async (time: number) => (await foldAnswer(back.view, { at: time })).seq
    expect([await seqAt(60), await seqAt(55), await seqAt(100), await seqAt(1e9)]).toEqual([5, 3, 5, 5])
  })

  it('gives only the parts asked for', async () => {
    expect(await ask({ parts: ['meta', 'pending_batch'] })).toEqual(plain(90, ['meta', 'pending_batch']))
  })

  it('is no_header before the first readable record, or where that is no Header', async () => {
    const noHeader = { code: 'bad_frames', facts: { reason: 'no_header' } }
    for (const query of [{ seq: 0 }, { at: -5 }]) await expect(ask(query)).rejects.toMatchObject(noHeader)
    await expect(ask({ at: -5 })).rejects.toMatchObject({
      message: expect.stringContaining('no record is as old'),
    })
    const headless = await storedRun(archiveOf([records[1] as JournalRecord, ...records]), 3)
    await expect(foldAnswer(headless.view, {})).rejects.toMatchObject(noHeader)
    for (const none of [new Uint8Array(0), archiveOf([])]) {
      const empty = await storedRun(none)
      await expect(foldAnswer(empty.view, {})).rejects.toMatchObject(noHeader)
    }
  })

  it('passes over unreadable frames, also before the Header', async () => {
    const before = withPayloads(archiveOf([]), '{"FromTomorrow":{}}', '')
    const odd = await storedRun(Buffer.concat([before, bytes.subarray(6)]), 4)
    const answer = await foldAnswer(odd.view, {})
    expect([answer.seq, seen(answer.folded)]).toEqual([92, plain(90).folded])
  })

  it('is an error, never an earlier state, where the head counts more than there is', async () => {
    const wrong = run.viewFrom({ ...run.head, frames: 91, points: run.head.points + 1 })
    for (const query of [{}, { seq: 91 }, { point: run.head.points }]) {
      await expect(foldAnswer(wrong, query)).rejects.toMatchObject({ code: 'internal' })
    }
  })

  it('is out of range past the end, and says where the end is', async () => {
    const past = { code: 'range_not_satisfiable', facts: { tail: bytes.length } }
    for (const query of [{ seq: 91 }, { point: run.head.points }, { point: 1e9 }]) {
      await expect(ask(query)).rejects.toMatchObject(past)
    }
  })

  it('has a tag that changes exactly when the answer may', () => {
    const grown = run.viewFrom({ ...run.head, frames: 91 })
    const again = run.viewFrom({ ...run.head, life: 2 })
    for (const query of [{ seq: 5 }, { point: 3 }])
      expect(foldTag(grown, query)).toBe(foldTag(run.view, query))
    for (const query of [{}, { at: 5 }]) expect(foldTag(grown, query)).not.toBe(foldTag(run.view, query))
    expect(foldTag(again, { seq: 5 })).not.toBe(foldTag(run.view, { seq: 5 }))
    const asked: FoldQuery[] = [
      {},
      { seq: 5 },
      { point: 5 },
      { at: 5 },
      { parts: ['meta'] },
      { parts: ['meta', 'context'] },
    ]
    expect(new Set(asked.map((query) => foldTag(run.view, query))).size).toBe(asked.length)
    expect(foldTag(run.view, { parts: ['context', 'meta'] })).toBe(
      foldTag(run.view, { parts: ['meta', 'context'] }),
    )
    expect(foldTag(run.view, {})).toMatch(/^"[\x21\x23-\x7e]+"$/)
  })
})
