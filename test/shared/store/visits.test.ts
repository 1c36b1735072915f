import { describe, expect, it } from 'vitest'
import { createMaintainer, type Head, type Visit } from '#store'
import { StoredRun, say, testArchive } from '../../kit/stored-run.ts'

const HOUR = 3_600_000

/** Runs of so many small appends each, and a maintainer that tells what it does. */
async function runs(...batches: number[]) {
  const kit = testArchive()
  const made: StoredRun[] = []
  for (const [n, count] of batches.entries()) {
    const run = await StoredRun.begin(kit.archive, `run-${n}`)
    for (let i = 0; i < count; i++) await run.append(say(`batch ${i}`))
    made.push(run)
  }
  const visits: Visit[] = []
  const maintainer = createMaintainer(kit.ports, kit.clock, { observe: (visit) => visits.push(visit) })
  const extents = async ({ key }: StoredRun) =>
    Object.keys(((await kit.ports.index.head(key)) as Head).extents).length
  return { ...kit, runs: made, visits, maintainer, extents }
}

describe('maintenance', () => {
  it('looks at one run alone when it is asked to', async () => {
    const {
      runs: [one, other],
      maintainer,
      extents,
      visits,
      clock,
    } = await runs(40, 40)
    if (!one || !other) throw new Error('no runs')
    clock.advance(500)
    await maintainer.visit(one.key)
    expect(await extents(one)).toBeLessThan(32)
    expect(await extents(other)).toBe(40)
    expect(visits).toEqual([{ run: one.key, waited_ms: 500, merges: 1, removed_bytes: 0 }])
  })

  it('stops between two runs when its time is over, and the others are still due', async () => {
    const { runs: all, maintainer, extents, visits } = await runs(40, 40, 40)
    let looked = 0
    await maintainer.pass(() => looked++ === 1)
    expect(visits).toHaveLength(1)
    expect((await Promise.all(all.map(extents))).filter((n) => n >= 32)).toHaveLength(2)
    await maintainer.pass()
    expect((await Promise.all(all.map(extents))).filter((n) => n >= 32)).toHaveLength(0)
  })

  it('tells how many bytes were removed once nobody can read them any more', async () => {
    const {
      runs: [run],
      maintainer,
      visits,
      clock,
      archive,
    } = await runs(40)
    if (!run) throw new Error('no run')
    await archive.release(run.key, run.epoch)
    await maintainer.pass()
    clock.advance(2 * HOUR)
    await maintainer.pass()
    const removed = visits.reduce((sum, { removed_bytes }) => sum + removed_bytes, 0)
    expect(removed).toBeGreaterThanOrEqual(say('batch 0').length * 32)
  })
})

describe('the slow round', () => {
  it('visits every run, and goes on behind the last one when its time was over', async () => {
    const { runs: all, maintainer, visits } = await runs(1, 1, 1, 1, 1)
    let left = 2
    const isOver = () => left-- === 0
    const first = await maintainer.round(undefined, isOver)
    expect(first).toEqual({ after: visits[1]?.run, failures: [] })
    expect(await maintainer.round(first.after, () => false)).toEqual({ after: undefined, failures: [] })
    expect(visits.map(({ run }) => run.run_id).sort()).toEqual(all.map(({ key }) => key.run_id).sort())
  })

  it('goes on after a run that fails, and tells of it', async () => {
    const { runs: all, ports, clock } = await runs(1, 1, 1)
    const broken = all[1]?.key.run_id
    const card = ports.index.card.bind(ports.index)
    const index = Object.assign(Object.create(ports.index) as typeof ports.index, {
      card: async (run: { tenant: string; run_id: string }) => {
        if (run.run_id === broken) throw new Error('broken')
        return card(run)
      },
    })
    const seen: string[] = []
    const options = { observe: ({ run }: Visit) => seen.push(run.run_id) }
    const { after, failures } = await createMaintainer({ ...ports, index }, clock, options).round(
      undefined,
      () => false,
    )
    expect(after).toBeUndefined()
    expect(failures).toEqual([new Error('broken')])
    expect(seen).toHaveLength(2)
  })
})
