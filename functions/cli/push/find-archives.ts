import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ARCHIVE, archivesIn, isFile } from '../../daemon/watch/runs-folder.ts'
import { UsageError } from '../usage-error.ts'

/** The archives a path means: the file itself, the run.lvr of a run folder, or all in a folder of runs, as `watch` finds them. */
export const findArchives = async (path: string): Promise<readonly string[]> => {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new UsageError(`cannot read ${path}: there is no such file`)
  if (!found.isDirectory()) return [path]
  if (await isFile(join(path, ARCHIVE))) return [join(path, ARCHIVE)]
  const archives = await archivesIn(path)
  if (archives.length === 0) throw new UsageError(`there is no */${ARCHIVE} and no *.lvr in ${path}`)
  return archives
}
