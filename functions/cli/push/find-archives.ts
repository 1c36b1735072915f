import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../usage-error.ts'

const ARCHIVE = 'run.lvr'

/** The archives a path means: the file itself, the run.lvr of a run folder, or that of every run folder in it, by name. */
export const findArchives = async (path: string): Promise<readonly string[]> => {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new UsageError(`cannot read ${path}: there is no such file`)
  if (!found.isDirectory()) return [path]
  if (await isFile(join(path, ARCHIVE))) return [join(path, ARCHIVE)]
  const archives: string[] = []
  for (const name of (await readdir(path)).sort()) {
    const archive = join(path, name, ARCHIVE)
    if (await isFile(archive)) archives.push(archive)
  }
  if (archives.length === 0) throw new UsageError(`there is no */${ARCHIVE} in ${path}`)
  return archives
}

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() === true
