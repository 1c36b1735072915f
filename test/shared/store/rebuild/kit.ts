import { expect } from 'vitest'
import { createArchive, type Head, type RebuiltRun, rebuild, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { objectKey } from '../../../../shared/store/keys.ts'
import { type ManualClock, manualClock } from '../../../kit/manual-clock.ts'
import { LIMITS, StoredRun, say, sha256 } from '../../../kit/stored-run.ts'

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

type Kit = Awaited<ReturnType<typeof begun>>

export const HEIR = { machine_id: 'heir', world_id: 'world' }

/** What is stored for the run under names that begin so; digits begin those of archive bytes. */
export const keysOf = async ({ objects }: StorePorts, beginning: string) => {
  const keys: string[] = []
  for await (const { key } of objects.list(`runs/default/run/${beginning}`)) keys.push(key)
  return keys
}

/** Deletes the run, and is broken off before the deletion is marked. */
export const removedUnmarked = async ({ archive, run, ports: { objects } }: Kit) => {
  const { put } = objects
  objects.put = async (key, ...asked) => {
    if (key.includes('/tombstone-')) throw new Error('a crash')
    return put.call(objects, key, ...asked)
  }
  await expect(archive.remove(run.key, { force: true })).rejects.toThrow('a crash')
  objects.put = put
}

/** Does what is to be done, which is broken off before this index has it. */
export const brokenOff = async ({ index }: StorePorts, toDo: () => Promise<unknown>) => {
  const { commit } = index
  index.commit = async () => {
    throw new Error('a crash')
  }
  await expect(toDo()).rejects.toThrow('a crash')
  index.commit = commit
}

/** Asks for the run's deletion, and is broken off before it is made. */
export const removalBegun = ({ archive, run, ports }: Kit) =>
  brokenOff(ports, () => archive.remove(run.key, { force: true }))

/** Deletes the run, and sets its index back to before. @returns the archive on the index that was set back */
export const setBack = async ({ archive, run, ports, again, clock }: Kit) => {
  const { extents, ...set } = (await ports.index.head(run.key)) as Head
  await archive.remove(run.key, { force: true })
  await again.index.commit(run.key, { absent: true }, { set, extents })
  return createArchive(again, { clock, limits: LIMITS })
}

/** What a writer leaves whose commit never came. */
export const leave = async ({ ports, run }: Kit, bytes: Uint8Array, more: object = {}) => {
  const head = (await ports.index.head(run.key)) as Head
  const key = objectKey(KEY, run.tail, {
    length: bytes.length,
    hash: sha256(bytes).slice(0, 16),
    sweep: head.sweep,
  })
  const facts = {
    life: '1',
    epoch: String(run.epoch),
    offset: String(run.tail),
    'digest-before': head.digest,
  }
  await ports.objects.put(key, [bytes], { ...facts, ...more })
  return key
}
