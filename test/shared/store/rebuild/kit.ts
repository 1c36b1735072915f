import { createArchive, type RebuiltRun, rebuild, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { type ManualClock, manualClock } from '../../../kit/manual-clock.ts'
import { LIMITS, StoredRun, say } from '../../../kit/stored-run.ts'

export const HOUR = 3_600_000
export const WEEK = 7 * 24 * HOUR
export const KEY = { tenant: 'default', run_id: 'run' }

/** The same objects under an index that knows nothing. */
export const bare = ({ objects, uploads }: StorePorts, clock: ManualClock): StorePorts => ({
  ...memoryPorts(clock),
  objects,
  uploads,
})

/** What became of each run; a rebuild that fails throws. */
export const rebuilt = async (ports: StorePorts, clock: ManualClock) => {
  const runs: RebuiltRun[] = []
  for await (const run of rebuild(ports, clock)) {
    if (run.outcome === 'failed') throw run.error
    runs.push(run)
  }
  return runs
}

/** A run of so many batches, and the same objects under a bare index, which `rebuilt` fills. */
export const begun = async (batches: number) => {
  const clock = manualClock()
  const ports = memoryPorts(clock)
  const archive = createArchive(ports, { clock, limits: LIMITS })
  const run = await StoredRun.begin(archive)
  for (let n = 0; n < batches; n++) await run.append(say(`batch ${n}`))
  const again = bare(ports, clock)
  return { clock, ports, archive, run, again, rebuilt: async () => (await rebuilt(again, clock))[0] }
}
