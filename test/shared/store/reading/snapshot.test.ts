import { describe, expect, it } from 'vitest'
import { jsonText, readArchive } from '#codec'
import { type Folding, fold, foldedView, NO_HEADER } from '#fold'
import { gunzip, gzip } from '../../../../shared/store/reading/gzip.ts'
import {
  listBytes,
  readLists,
  readSnapshot,
  type Snapshot,
  snapshotChunks,
  withLists,
  withoutLists,
} from '../../../../shared/store/reading/snapshot.ts'
import {
  indexBytes,
  lastWhere,
  type NewEntry,
  readIndex,
  type SnapshotEntry,
} from '../../../../shared/store/reading/snapshot-index.ts'
import { goldenBytes, goldenCases } from '../../../kit/golden.ts'
import { describeShared } from '../../../kit/shared-folder.ts'
import { joined } from '../../../kit/stored-run.ts'

const snapshotOf = (folding: Folding): Snapshot => ({
  life: 3,
  seq: 9,
  offset: 4096,
  points: folding && folding !== NO_HEADER ? folding.points : 0,
  unreadable: 1,
  hash_state: '1:abc',
  folding,
})

function* statesOf(bytes: Uint8Array): Generator<Folding> {
  let folding: Folding
  for (const item of readArchive(bytes)) {
    if (item.type !== 'record') continue
    folding = fold(folding, item.record)
    yield folding
  }
}

/** Written and read again, lists and all. */
function again(folding: Folding): Folding {
  const isState = folding !== undefined && folding !== NO_HEADER
  const bare = isState ? withoutLists(folding) : folding
  const read = readSnapshot(joined(...snapshotChunks(snapshotOf(bare))))
  expect({ ...read, folding: null }).toEqual({ ...snapshotOf(bare), folding: null })
  const state = read?.folding
  return isState && state && state !== NO_HEADER ? withLists(state, readLists(listBytes(folding))) : state
}

const shown = (folding: Folding) =>
  folding && folding !== NO_HEADER ? jsonText({ ...foldedView(folding), points: folding.points }) : folding

describeShared('a snapshot of any golden archive', () => {
  it('folds to the same state after every record, byte for byte', () => {
    for (const { file, head } of goldenCases()) {
      if (!head.fold_lenient.ok) continue
      const bytes = goldenBytes(file)
      for (const folding of bytes.length < 100_000 ? statesOf(bytes) : [[...statesOf(bytes)].at(-1)]) {
        expect(shown(again(folding)), file).toBe(shown(folding))
      }
    }
  }, 60_000)
})

it('there is none of an unknown version', () => {
  const text = new TextDecoder().decode(joined(...snapshotChunks(snapshotOf(undefined))))
  expect(readSnapshot(new TextEncoder().encode(text))).toEqual(snapshotOf(undefined))
  expect(readSnapshot(new TextEncoder().encode(text.replace('"version":1', '"version":2')))).toBeUndefined()
})

it('a damaged gzip file is told by its checksum', async () => {
  const packed = await gzip(Array.from({ length: 100 }, () => new TextEncoder().encode('what was folded ')))
  expect(new TextDecoder().decode(await gunzip(packed))).toHaveLength(1600)
  for (const at of [2, packed.length >> 1, packed.length - 6, packed.length - 1]) {
    const broken = packed.slice()
    broken[at] = (broken[at] ?? 0) ^ 4
    await expect(gunzip(broken)).rejects.toThrow()
  }
  await expect(gunzip(packed.subarray(0, -1))).rejects.toThrow()
})

const objectAt = (seq: number) => ({
  sweep: 2,
  life: 3,
  seq,
  offset: seq * 100,
  stateBytes: 21,
  indexBytes: 40,
  hash: String(seq).padStart(16, '0'),
})

const stateAt = (seq: number): NewEntry => ({
  seq,
  offset: seq * 100,
  points: seq >> 1,
  unreadable: 0,
  least_at: seq === 1 ? null : seq,
  greatest_at: seq === 1 ? null : 2 ** 63,
  length: 7,
  lists: seq % 5,
})

const entryAt = (seq: number): SnapshotEntry => ({ ...stateAt(seq), start: 0, object: objectAt(seq) })

describe('an index', () => {
  const entries = [
    entryAt(1),
    entryAt(6),
    { ...entryAt(9), object: objectAt(6), start: 8 },
    { ...entryAt(10), object: objectAt(6), start: 19, lists: null },
  ]
  const own = objectAt(20)

  it('reads as it was written, alone or behind its own states', () => {
    expect(readIndex(indexBytes({ entries, tried: 5000 }, [], ''), own)).toEqual({ entries, tried: 5000 })
    const added = [stateAt(14), { ...stateAt(17), lists: null }, stateAt(20)]
    const starts = [0, 11, 18]
    const mine = added.map((entry, n) => ({ ...entry, start: starts[n], object: own }))
    const bytes = indexBytes({ entries, tried: 0 }, added, '0123456789abcdef')
    expect(readIndex(bytes, own)).toEqual({ entries: [...entries, ...mine], tried: 0 })
    expect(readIndex(indexBytes({ entries: [], tried: 0 }, [], ''), own)).toEqual({ entries: [], tried: 0 })
  })

  it('differs where the states before it do', () => {
    const [one, other] = ['01', 'ef'].map((states) => indexBytes({ entries, tried: 0 }, [], states))
    expect(one).not.toEqual(other)
  })

  it('of another version is none', () => {
    const text = new TextDecoder().decode(indexBytes({ entries, tried: 0 }, [], ''))
    const older = new TextEncoder().encode(text.replace('"version":3', '"version":2'))
    expect(readIndex(older, own)).toBeUndefined()
  })
})

it('an entry is found by halving', () => {
  const entries = Array.from({ length: 37 }, (_, n) => entryAt(3 * n))
  for (let seq = -1; seq < 120; seq++) {
    const expected = entries.filter((entry) => entry.seq <= seq).length - 1
    expect(lastWhere(entries, (entry) => entry.seq <= seq)).toBe(expected)
  }
})
