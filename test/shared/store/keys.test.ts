import { expect, it } from 'vitest'
import {
  derivedKey,
  extentName,
  holdKey,
  noteKey,
  objectKey,
  objectPrefix,
  parseDerivedKey,
  parseHoldKey,
  parseNoteKey,
  parseObjectKey,
  runOfKey,
} from '../../../shared/store/keys.ts'

const run = { tenant: 'acme', run_id: 'Run-1' }
const place = { sweep: 3, start: 4096, length: 77, hash: '0123456789abcdef' }

it('a key tells all of its object, and is read back', () => {
  const key = objectKey(run, place.start, place)
  expect(key).toBe('runs/acme/Run-1/0000000003-0000000000004096-77-0123456789abcdef')
  expect(parseObjectKey(run, key)).toEqual(place)
  const merged = { ...place, hash: 'x123456789abcdef' }
  expect(parseObjectKey(run, objectKey(run, place.start, merged))).toEqual(merged)
})

it('no two of a run, generation, place, length and content share a key', () => {
  const keys = [
    objectKey(run, 4096, place),
    objectKey({ ...run, tenant: 'acme2' }, 4096, place),
    objectKey({ ...run, run_id: 'run-1' }, 4096, place),
    objectKey(run, 4097, place),
    objectKey(run, 4096, { ...place, sweep: 4 }),
    objectKey(run, 4096, { ...place, length: 78 }),
    objectKey(run, 4096, { ...place, hash: 'f123456789abcdef' }),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})

it('other objects of a run are none of ours', () => {
  for (const name of ['', 'snapshot', '3-4096-77-0123', '0000000003-0000000000004096-77-0123456789ABCDEF']) {
    expect(parseObjectKey(run, objectPrefix(run) + name)).toBeUndefined()
  }
  expect(parseObjectKey({ ...run, run_id: 'Run' }, objectKey(run, 0, place))).toBeUndefined()
})

it('extents sort as their offsets do', () => {
  const starts = [0, 9, 10, 4096, 2 ** 40, Number.MAX_SAFE_INTEGER]
  expect(starts.map(extentName).toSorted()).toEqual(starts.map(extentName))
})

it('what is derived has keys of its own, which differ by life and content too', () => {
  const made = { sweep: 3, life: 7, seq: 812, offset: 1_048_610, stateBytes: 4000, indexBytes: 77 }
  const derived = { ...made, hash: '0123456789abcdef' }
  const key = derivedKey(run, derived)
  expect(key).toBe('runs/acme/Run-1/snapshots-0000000003-7-812-1048610-4000-77-0123456789abcdef')
  expect(parseDerivedKey(run, key)).toEqual(derived)
  expect(parseObjectKey(run, key)).toBeUndefined()
  expect(parseDerivedKey(run, objectKey(run, 4096, place))).toBeUndefined()
  expect(parseDerivedKey({ ...run, run_id: 'Run' }, key)).toBeUndefined()
  const keys = [
    key,
    derivedKey(run, { ...derived, life: 8 }),
    derivedKey(run, { ...derived, sweep: 4 }),
    derivedKey(run, { ...derived, stateBytes: 0 }),
    derivedKey(run, { ...derived, indexBytes: 0 }),
    derivedKey(run, { ...derived, hash: 'f123456789abcdef' }),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})

it('what a rebuild goes by is told from everything else', () => {
  const note = { kind: 'manifest', life: 7, at: 1_048_610, hash: '0123456789abcdef' } as const
  const key = noteKey(run, note)
  expect(key).toBe('runs/acme/Run-1/manifest-0000000000000007-0000000001048610-0123456789abcdef')
  expect(parseNoteKey(run, key)).toEqual(note)
  for (const kind of ['tombstone', 'ending'] as const)
    expect(parseNoteKey(run, noteKey(run, { ...note, kind }))).toEqual({ ...note, kind })
  expect([parseObjectKey(run, key), parseDerivedKey(run, key), parseHoldKey(run, key)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(parseHoldKey(run, holdKey(run, 1_795_996_800_000))).toBe(1_795_996_800_000)
  expect(parseHoldKey({ ...run, run_id: 'Run' }, holdKey(run, 1))).toBeUndefined()
  expect(parseNoteKey(run, objectKey(run, 4096, place))).toBeUndefined()
})

it('a key tells whose object it is', () => {
  expect(runOfKey(objectKey(run, 4096, place))).toEqual(run)
  expect(runOfKey('runs/acme/Run-1')).toBeUndefined()
  expect(runOfKey('uploads/0123-open')).toBeUndefined()
})
