import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'

export const DEFAULT_FOLDER = '~/.leviath/runs'

/** Where the folder of runs lies that a command means, whether it is there or not. */
export const folderPath = (io: Io, folder = DEFAULT_FOLDER): string =>
  resolve(io.cwd, folder.replace(/^~(?=\/|$)/, io.env.HOME || homedir()))

export const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true

/** The same; rejects with a UsageError where there is none. */
export const runsFolder = async (io: Io, folder = DEFAULT_FOLDER): Promise<string> => {
  const path = folderPath(io, folder)
  if (await isFolder(path)) return path
  throw new UsageError(`there is no folder ${path}; name the one your runs are in`)
}
