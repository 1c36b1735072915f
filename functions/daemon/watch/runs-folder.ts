import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { RUN_ID_RULE, runId } from '#schema'
import type { RunPlace } from './run-state.ts'

/** What a daemon calls the archive in a run's folder. */
export const ARCHIVE = 'run.lvr'
const SUFFIX = '.lvr'

interface Ignored {
  readonly path: string
  readonly detail: string
}

export interface Listing {
  /** By run id, each once. */
  readonly runs: readonly RunPlace[]
  /** Folders that hold, or may come to hold, a run's archive. */
  readonly folders: readonly string[]
  readonly ignored: readonly Ignored[]
}

/**
 * The runs of a folder: `<run_id>/run.lvr`, as daemons have it, and `<run_id>.lvr`. A folder counts before there is an archive
 * in it, and other files count for nothing.
 */
export const listRuns = async (folder: string): Promise<Listing> => {
  const runs = new Map<string, RunPlace>()
  const folders: string[] = []
  const ignored: Ignored[] = []
  for (const { entry, place } of await placesIn(folder)) {
    if (!runId.safeParse(place.run_id).success) {
      // Folders of other things lie about everywhere; one with an archive in it, or a file that calls itself one, is told.
      if (!isFolder(entry) || (await isFile(place.path)))
        ignored.push({ path: place.path, detail: `a run_id is ${RUN_ID_RULE}` })
      continue
    }
    const before = runs.get(place.run_id)
    if (before && (await isFile(before.path))) {
      ignored.push({ path: place.path, detail: `${before.path} has this run_id already` })
    } else {
      // A folder that has no archive, such as a working directory, does not stand in the way of a file.
      runs.set(place.run_id, place)
      if (isFolder(entry)) folders.push(join(folder, entry.name))
    }
  }
  return { runs: [...runs.values()], folders, ignored }
}

/** Every archive that lies in a folder of runs, by name, whether a run may be called what its file is or not. */
export const archivesIn = async (folder: string): Promise<readonly string[]> => {
  const archives: string[] = []
  for (const { place } of await placesIn(folder)) if (await isFile(place.path)) archives.push(place.path)
  return archives
}

/** Where archives lie or may come to lie, by name. */
const placesIn = async (folder: string) =>
  (await readdir(folder, { withFileTypes: true })).sort(byName).flatMap((entry) => {
    const place = placeOf(folder, entry)
    return place ? [{ entry, place }] : []
  })

const placeOf = (folder: string, entry: Dirent): RunPlace | undefined => {
  const path = join(folder, entry.name)
  if (isFolder(entry)) return { run_id: entry.name, path: join(path, ARCHIVE) }
  if (entry.name === ARCHIVE || !entry.name.endsWith(SUFFIX)) return undefined
  return { run_id: entry.name.slice(0, -SUFFIX.length), path }
}

/** A link may lead to a run's folder; where it leads nowhere there is no archive, which does no harm. */
const isFolder = (entry: Dirent): boolean =>
  entry.isDirectory() || (entry.isSymbolicLink() && !entry.name.endsWith(SUFFIX))

export const isFile = async (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  )

const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : 1)
