import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '../clock.ts'
import type { LocalStore } from '../ports.ts'
import { ownUploads } from '../uploads/own-uploads.ts'
import { GroupCommit, openDatabase } from './database.ts'
import type { DiskOptions } from './disk.ts'
import { Disk } from './disk.ts'
import { fileObjects } from './objects.ts'
import { sqliteRunIndex } from './run-index.ts'
import { sqliteSessionIndex } from './session-index.ts'
import { sqliteTokenIndex } from './token-index.ts'
import { forgetUnknownParts, sqliteUploadIndex } from './upload-index.ts'
import { urlSecret } from './url-secret.ts'

/**
 * A folder as the store: `index.sqlite`, and `objects/` with a file of an object's bytes alone, and its facts in one beside it.
 *
 * @throws Error with one line for the person who starts the server, where the folder cannot be used.
 */
export async function openLocalStore(
  folder: string,
  options: Partial<Pick<DiskOptions, 'clock' | 'sync'>> = {},
): Promise<LocalStore> {
  const root = path.resolve(folder)
  makeWritable(root)
  const database = openDatabase(path.join(root, 'index.sqlite'))
  try {
    const broken = Promise.withResolvers<unknown>()
    const disk = new Disk(path.join(root, 'objects'), {
      clock: systemClock,
      ...options,
      onFatal: broken.resolve,
    })
    await disk.clean()
    const commits = new GroupCommit(database, disk)
    const objects = fileObjects(disk)
    await forgetUnknownParts(database, objects)
    const ports = {
      objects,
      index: sqliteRunIndex(database, commits),
      tokens: sqliteTokenIndex(database, commits),
      uploads: ownUploads(objects, options.clock ?? systemClock, urlSecret(database)),
      uploadIndex: sqliteUploadIndex(database, commits),
      sessions: sqliteSessionIndex(database, commits),
    }
    return { ports, broken: broken.promise, close: () => database.close() }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Each missing folder in turn, since Node's own recursion never ends where the system says that a parent is not there (/proc). */
function makeFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found) throw new Error('it is not a folder')
  makeFolder(path.dirname(folder))
  mkdirSync(folder, { mode: 0o700 }) // archives hold callback secrets in clear (P10)
}

function makeWritable(root: string): void {
  try {
    makeFolder(path.resolve(root))
    accessSync(root, constants.W_OK)
  } catch (error) {
    throw new Error(`the data folder ${root} cannot be written: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
