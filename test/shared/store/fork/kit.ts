import { type Archive, createArchive, type Head, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { type ManualClock, manualClock } from '../../../kit/manual-clock.ts'
import { LIMITS, objectKeys, StoredRun } from '../../../kit/stored-run.ts'

export const DAY = 86_400_000
/** Who forks. */
export const OWNER = { machine_id: 'm2', world_id: 'w2' }
export const FORK = { tenant: 'default', run_id: 'fork' }

/** An archive on memory ports with a run in it, `source`, to be forked. */
export class ForkKit {
  readonly clock: ManualClock
  readonly ports: StorePorts
  readonly archive: Archive
  readonly source: StoredRun

  private constructor(clock: ManualClock, ports: StorePorts, archive: Archive, source: StoredRun) {
    this.clock = clock
    this.ports = ports
    this.archive = archive
    this.source = source
  }

  static async begin(): Promise<ForkKit> {
    const clock = manualClock()
    const ports = memoryPorts(clock)
    const archive = createArchive(ports, { clock, limits: LIMITS })
    return new ForkKit(clock, ports, archive, await StoredRun.begin(archive))
  }

  fork(seq: number, more: object = {}) {
    return this.archive.fork(this.source.key, { seq, run_id: 'fork', ...OWNER, ...more })
  }

  /** The fork as its owner goes on with it. */
  async forked(seq: number, run_id = 'fork'): Promise<StoredRun> {
    const { epoch, tail } = await this.fork(seq, { run_id })
    const run = new StoredRun(this.archive, run_id, OWNER.machine_id)
    Object.assign(run, { epoch, bytes: this.source.bytes.slice(0, tail) })
    return run
  }

  async headOf(run_id = 'fork'): Promise<Head> {
    return (await this.ports.index.head({ tenant: 'default', run_id })) as Head
  }

  /** What a head counts and knows of its frames. */
  async countsOf(run_id: string) {
    const { tail, frames, points, unreadable, digest, headed, ticks, ended } = await this.headOf(run_id)
    return { tail, frames, points, unreadable, digest, headed, ticks, ended }
  }

  /** What is listed of it, but for its name. */
  async cardOf(run_id: string) {
    const row = await this.ports.index.card({ tenant: 'default', run_id })
    return { ...row?.card, run_id: undefined, workdir: row?.workdir }
  }

  async objectsOf(run_id: string): Promise<number> {
    return (await objectKeys(this.ports, `runs/default/${run_id}/`)).length
  }
}
