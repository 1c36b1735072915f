import { describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, foldAnswer, type Visit } from '#store'
import { memoryPorts } from '#store/memory'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'
import { createMetrics } from '../../../functions/api/metrics.ts'
import { MEASURES, type MeasureName } from '../../../functions/measures.ts'
import {
  observedArchive,
  observedPorts,
  tallyFold,
  tallyProblem,
  tallyVisit,
} from '../../../functions/observed.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { StoredRun, say } from '../../kit/stored-run.ts'
import { header } from '../api/api-kit.ts'

async function observed() {
  const clock = manualClock()
  const counts: Partial<Record<MeasureName, number[]>> = {}
  const tally = (name: MeasureName, value: number) => {
    counts[name] = [...(counts[name] ?? []), value]
  }
  const due: string[] = []
  const ports = observedPorts(memoryPorts(clock), tally, ({ run_id }) => due.push(run_id))
  const folded = tallyFold(tally)
  const archive = observedArchive(createArchive(ports, { clock, limits: LOCAL_LIMITS, folded }), tally)
  return { clock, ports, archive, counts, due, tally, run: await StoredRun.begin(archive) }
}

const sum = (values: readonly number[] = []) => values.reduce((all, value) => all + value, 0)

describe('what is counted', () => {
  it('is every batch that was committed, and its bytes', async () => {
    const { run, counts } = await observed()
    for (let i = 0; i < 5; i++) await run.append(say(`batch ${i}`))
    expect(counts.Appends).toHaveLength(5)
    expect(sum(counts.AppendedBytes)).toBe(run.tail)
    expect(counts.Replays).toBeUndefined()
  })

  it('is what was sent twice, and is not counted as appended again', async () => {
    const { run, archive, counts } = await observed()
    await run.append(say('once'))
    await archive.append(run.key, { offset: 0, epoch: run.epoch, bytes: run.bytes })
    expect(counts.Replays).toEqual([1])
    expect(counts.Appends).toHaveLength(1)
  })

  it('tells once that an append has made a run due', async () => {
    const { run, due, ports, clock, counts } = await observed()
    for (let i = 0; i < 31; i++) await run.append(say(`batch ${i}`))
    expect(due).toEqual([])
    await run.append(say('the one that makes a merge'))
    expect(due).toEqual(['run'])
    const visits: Visit[] = []
    await createMaintainer(ports, clock, { observe: (visit) => visits.push(visit) }).visit(run.key)
    expect(counts.Merges).toEqual([1])
    expect(Math.max(...(counts.ExtentsPerRun ?? []))).toBe(32)
    for (const visit of visits) tallyVisit(visit, (name, value) => (counts[name] = [value]))
    expect(counts.MergeLag).toEqual([0])
    for (let i = 0; i < 5; i++) await run.append(say(`after ${i}`))
    expect(due).toEqual(['run'])
  })

  it('is whether a fold went on from a state that was kept', async () => {
    const { run, archive, counts } = await observed()
    await run.append(header('run'))
    const whole = async () => foldAnswer(await archive.view(run.key), {})
    await whole()
    await whole()
    await run.append(say('more'))
    await whole()
    expect(counts.FoldMisses).toEqual([1])
    expect(counts.FoldHits).toEqual([1, 1])
  })

  it('is refusals by what they mean', async () => {
    const names: MeasureName[] = []
    const codes = ['gap', 'overlap', 'offset_conflict', 'fenced', 'slow_down', 'bad_request', undefined]
    for (const code of codes) tallyProblem(code, (name) => names.push(name))
    expect(names).toEqual(['Conflicts', 'Conflicts', 'Conflicts', 'Fenced', 'SlowDown'])
  })

  it('is shown to Prometheus under a name of its own each', async () => {
    const metrics = createMetrics()
    for (const name of Object.keys(MEASURES)) metrics.tally(name as MeasureName, 3)
    const page = await (await metrics.page()).text()
    expect(page).toContain('runfold_appends_total 3')
    expect(page).toContain('runfold_extents_per_run 3')
    expect(page).toContain('runfold_maintenance_failures_total 3')
    const shown = page.split('\n').filter((line) => /^runfold_\w+ 3$/.test(line))
    expect(shown).toHaveLength(Object.keys(MEASURES).length)
  })
})

it('an index that keeps private fields is asked for the rest as itself', async () => {
  const ports = memoryPorts(manualClock())
  class PrivateIndex {
    readonly #seen = 'its own'
    async due() {
      return [{ tenant: this.#seen, run_id: 'run' }]
    }
  }
  const index = new PrivateIndex() as unknown as typeof ports.index
  const { due } = observedPorts({ ...ports, index }, () => {}).index
  expect(await due(0, 1)).toEqual([{ tenant: 'its own', run_id: 'run' }])
})
