import { createHash } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Worker, workerId } from '#schema'
import { keptWorker } from './kept-worker.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Where a daemon keeps its installation's id: beside its runs folder. */
const MACHINE_FILE = 'machine-id'

/**
 * What runfold remembers of a runs folder: `$XDG_STATE_HOME/runfold/runs/<name>-<hash of its real path>`. One folder under
 * two names has one state.
 */
export const stateFolderOf = async (runsFolder: string, env: Variables): Promise<string> => {
  const path = await realpath(runsFolder)
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 12)
  const home = env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state')
  return join(home, 'runfold', 'runs', `${basename(path) || 'root'}-${hash}`)
}

/**
 * As whom this machine asks for the leases of the runs in a folder: machine_id is the daemon's own where its file lies
 * beside the folder, world_id is made once and kept in the state folder. So whoever works on this folder here (`watch`, also
 * after a crash, `resume`, `claim`) is the same holder, and keeps the epoch.
 */
export const identityOf = async (runsFolder: string, stateFolder: string): Promise<Worker> => {
  const kept = await keptWorker(join(stateFolder, 'worker.json'))
  return { ...kept, machine_id: (await machineIdBeside(runsFolder)) ?? kept.machine_id }
}

const machineIdBeside = async (runsFolder: string): Promise<string | undefined> => {
  try {
    const text = await readFile(join(dirname(await realpath(runsFolder)), MACHINE_FILE), 'utf8')
    return workerId.safeParse(text.trim()).data
  } catch {
    return undefined // no daemon has made one
  }
}
