import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseJson } from '#codec'
import { type Worker, worker } from '#schema'

/**
 * A machine_id and a world_id of 16 hex digits each, made once and kept in a file of mode 0600. Of two processes that come
 * first at once, one makes the file, whole at once, and the other reads it. A file that holds something else, such as one that a
 * power cut has emptied, is replaced: under new names one only waits for the former leases to end.
 *
 * @throws Error when the file cannot be made or read
 */
export const keptWorker = async (path: string): Promise<Worker> => {
  const fresh: Worker = { machine_id: hexId(), world_id: hexId() }
  const temporary = `${path}.${fresh.world_id}`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeSynced(temporary, JSON.stringify(fresh))
    await link(temporary, path)
    return fresh
  } catch (error) {
    const found = await workerIn(path, error)
    if (found) return found
    await rename(temporary, path)
    return (await workerIn(path, error)) ?? fresh
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Undefined where a file holds something else. @throws why it could not be made, where there is none */
const workerIn = async (path: string, whyNotMade: unknown): Promise<Worker | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? whyNotMade : error
  })
  try {
    return worker.parse(parseJson(text))
  } catch {
    return undefined
  }
}

const writeSynced = async (path: string, text: string): Promise<void> => {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

const hexId = () => randomBytes(8).toString('hex')
