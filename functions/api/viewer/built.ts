import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A file of the viewer, by its name in the served folder. */
export interface ViewerFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** The files that were built into a folder; none where it is not there. */
export async function builtViewer(folder: string): Promise<readonly ViewerFile[]> {
  const names = await readdir(folder).catch(() => [])
  return Promise.all(
    names.map(async (name) => ({ name, bytes: new Uint8Array(await readFile(join(folder, name))) })),
  )
}
