import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Worker, worker } from '#schema'
import { keptWorker } from '../daemon/kept-worker.ts'
import type { Io } from './io.ts'
import { UsageError } from './usage-error.ts'

export interface WorkerOptions {
  readonly machine?: string
  readonly world?: string
}

/**
 * Who this machine is when it asks for a lease: 16 hex digits each, made once and kept in
 * $XDG_STATE_HOME/runfold/worker.json. The same worker asking again keeps its epoch, so a push that was killed can be
 * repeated at once.
 */
export const workerOf = async (io: Io, options: WorkerOptions): Promise<Worker> => {
  const { machine, world } = options
  const known = machine && world ? { machine_id: machine, world_id: world } : await workerOfMachine(io)
  const chosen = worker.safeParse({
    machine_id: machine ?? known.machine_id,
    world_id: world ?? known.world_id,
  })
  if (!chosen.success)
    throw new UsageError(chosen.error.issues[0]?.message ?? 'not a machine_id and world_id')
  return chosen.data
}

const workerOfMachine = async (io: Io): Promise<Worker> => {
  const folder = join(io.env.XDG_STATE_HOME || join(io.env.HOME || homedir(), '.local', 'state'), 'runfold')
  const path = join(folder, 'worker.json')
  try {
    return await keptWorker(path)
  } catch (error) {
    const text = `cannot use ${path}; mend or remove it, or give --machine and --world`
    throw new UsageError(text, { cause: error })
  }
}
