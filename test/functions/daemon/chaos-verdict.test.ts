import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { encodeArchive } from '#codec'
import type { JournalRecord } from '#schema'
import type { Link } from '../../chaos/link.ts'
import { Machine } from '../../chaos/machine.ts'
import { judge } from '../../chaos/verdict.ts'
import { headerRecord } from '../../kit/header-record.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

// The judge of the chaos run finds what it is there to find.

const link: Link = { url: '', cut: () => {}, mend: () => {}, close: () => {} }
const begins = headerRecord({ run_id: 'run' })
const by = (machine_id: string, text: string): JournalRecord => ({
  Message: { message: { role: 'user', content: `${machine_id} ${text}` }, at: 1 },
})
const owned = (machine_id: string): JournalRecord => ({
  OwnershipChanged: { machine_id, world_id: 'w', at: 1 },
})

const GOOD = [begins, by('machine', '1'), owned('other'), by('other', '2')]

const judged = (stored: readonly JournalRecord[], file: readonly JournalRecord[] = stored, acked = 0) => {
  const machine = new Machine('machine', temporaryFolder(), link, '', 0)
  mkdirSync(dirname(machine.archiveOf('run')))
  writeFileSync(machine.archiveOf('run'), encodeArchive(file))
  machine.acked.set('run', acked)
  const history = ['machine', 'other'].map((machine_id, epoch) => ({
    epoch,
    machine_id,
    world_id: 'w',
    from: '',
    reason: 'forced' as const,
  }))
  const archive = Buffer.from(encodeArchive(stored))
  const { wrong, ...counts } = judge([{ run: 'run', archive, machines: [machine], owner: machine, history }])
  return { ...counts, isWrong: wrong.length > 0 }
}

const NOTHING = { lost: 0, doubled: 0, fenced_bytes: 0, isWrong: false }

describe('the judge of the chaos run', () => {
  it('finds nothing where nothing is wrong', () => {
    expect(judged(GOOD)).toEqual({ ...NOTHING, takeovers: 1, frames: 4 })
  })

  it('finds what was acknowledged and is not there', () => {
    const { length } = encodeArchive(GOOD)
    expect(judged(GOOD.slice(0, 3), GOOD, length)).toMatchObject({ lost: 2, isWrong: true })
    const otherBytes = [...GOOD.slice(0, 3), by('other', '3')]
    expect(judged(GOOD, otherBytes, length)).toMatchObject({ lost: 2, isWrong: true })
  })

  it('finds a frame that stands there twice', () => {
    expect(judged([...GOOD, by('other', '2')])).toMatchObject({ doubled: 1, isWrong: true })
  })

  it('finds bytes of who had lost the run', () => {
    const late = judged([...GOOD, by('machine', 'late')])
    expect(late).toMatchObject({ isWrong: true })
    expect(late.fenced_bytes).toBeGreaterThan(0)
  })

  it('finds a take-over that says nothing of itself, and an owner who had no lease', () => {
    expect(judged([begins, by('machine', '1'), by('other', '2')]).fenced_bytes).toBeGreaterThan(0)
    expect(judged([...GOOD, owned('stranger')])).toMatchObject({ isWrong: true })
  })
})
