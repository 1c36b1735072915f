import { describe, expect, it } from 'vitest'
import type { Extents, Head } from '#store'
import {
  isSnapshotDue,
  snapshotsEnd,
  wantsSnapshots,
} from '../../../shared/store/maintain/snapshot-policy.ts'

const MiB = 1024 * 1024
const POLICY = { everyBytes: MiB, mergedBytes: 8 * MiB, stateBytes: 64 * MiB }

describe('a snapshot is due', () => {
  const due = (stretch: number, bytes = 0, offset = stretch, isExtentEnd = false) =>
    isSnapshotDue(POLICY, offset, { offset: offset - stretch, bytes }, isExtentEnd)

  it('after a stretch, and at the end of an extent, so that a stretch lies in one object', () => {
    expect(due(MiB)).toBe(true)
    expect(due(MiB - 1)).toBe(false)
    expect(due(5000, 1000, 50 * MiB, true)).toBe(true)
  })

  it('not before the stretch outweighs the last one, so that all of them never outweigh the archive', () => {
    expect(due(3 * MiB, 4 * MiB)).toBe(false)
    expect(due(4 * MiB, 4 * MiB)).toBe(true)
    expect(due(1000, MiB, MiB, true)).toBe(false)
  })

  it('less and less often in a very long archive, whose index grows with the logarithm', () => {
    let [offset, entries] = [0, 0]
    while (offset < 1024 * 1024 * MiB) {
      offset += Math.max(MiB, Math.ceil(offset / 8192))
      entries++
      expect(due(Math.max(MiB, Math.floor(offset / 8192)), 0, offset)).toBe(true)
    }
    expect(due(MiB, 0, 1024 * 1024 * MiB)).toBe(false)
    expect(entries).toBeLessThan(8192 * 7)
  })
})

describe('snapshots reach', () => {
  const head = (...lengths: number[]): Head => {
    let tail = 0
    const extents: Record<string, Extents[string]> = {}
    for (const length of lengths) {
      extents[String(tail).padStart(16, '0')] = { length, hash: '', sweep: 0, at: 0 }
      tail += length
    }
    return { tail, extents, snapshot: null } as unknown as Head
  }

  it('to the end of the last merged extent, or of all where the run rests', () => {
    const growing = head(9 * MiB, 100, 8 * MiB, 100, 200)
    expect(snapshotsEnd(growing, POLICY, false)).toBe(17 * MiB + 100)
    expect(snapshotsEnd(growing, POLICY, true)).toBe(growing.tail)
    expect(snapshotsEnd(head(100), POLICY, false)).toBe(0)
    expect(snapshotsEnd(head(), POLICY, true)).toBe(0)
  })

  it('on only when enough lies behind the newest', () => {
    const made = { sweep: 0, life: 1, stateBytes: 9, indexBytes: 9, hash: '0123456789abcdef' }
    const at = (offset: number) => ({ ...made, seq: 1, offset })
    const growing = { ...head(9 * MiB, 8 * MiB, 5), snapshot: at(9 * MiB) }
    expect(wantsSnapshots(growing, POLICY, false)).toBe(true)
    expect(wantsSnapshots({ ...growing, snapshot: at(17 * MiB) }, POLICY, false)).toBe(false)
    expect(wantsSnapshots({ ...growing, snapshot: at(17 * MiB) }, POLICY, true)).toBe(false)
    expect(wantsSnapshots(head(), POLICY, true)).toBe(false)
  })
})
