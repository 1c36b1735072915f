import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'

export const DEFAULT_FOLDER = '~/.leviath/runs'

/** The folder of runs that a command means. */
export const runsFolder = async (io: Io, folder = DEFAULT_FOLDER): Promise<string> => {
  const path = resolve(io.cwd, folder.replace(/^~(?=\/|$)/, io.env.HOME || homedir()))
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return path
  throw new UsageError(
    found ? `${path} is not a folder` : `there is no folder ${path}; name the one your runs are in`,
  )
}
