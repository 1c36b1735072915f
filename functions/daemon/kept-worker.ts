import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseJson } from '#codec'
import { type Worker, worker } from '#schema'

/**
 * A machine_id and a world_id of 16 hex digits each, made once and kept in a file of mode 0600. Of two processes that come
 * first at once, one makes the file, whole at once, and the other reads it.
 *
 * @throws Error when the file cannot be made, or holds something else
 */
export const keptWorker = async (path: string): Promise<Worker> => {
  const fresh: Worker = { machine_id: hexId(), world_id: hexId() }
  const temporary = `${path}.${fresh.world_id}`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(temporary, JSON.stringify(fresh), { mode: 0o600 })
    await link(temporary, path)
    return fresh
  } catch {
    return worker.parse(parseJson(await readFile(path, 'utf8')))
  } finally {
    await rm(temporary, { force: true })
  }
}

const hexId = () => randomBytes(8).toString('hex')
