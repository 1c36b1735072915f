import type { Dirent } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, relative, sep } from 'node:path'
import type { Harness } from '#schema'
import { HEAD_BYTES, HOMES, type Home, refusalOf, sendingOrder } from '#sessions'
import { isUnfinishedName } from '../restore-unfinished.ts'
import type { Counters } from './counters.ts'
import { firstBytes } from './first-bytes.ts'
import { Placeless } from './placeless.ts'
import { isGone, lookAt, type Source } from './source-file.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** A harness home that is there. */
export interface FoundHome {
  readonly home: Home
  /** Its real path. */
  readonly folder: string
}

export interface FoundFile extends Source {
  /** Session-relative. */
  readonly path: string
}

export interface FoundSession {
  readonly harness: Harness
  readonly id: string
  /** The real path of the harness home. */
  readonly home: string
  /** In the order they are sent: what is referred to comes before what refers to it. */
  readonly files: readonly FoundFile[]
}

/** Something under a home that is not archived. */
export interface Unread {
  readonly harness: Harness
  readonly source: string
  readonly reason: string
}

export const homesOf = async (env: Variables, only?: readonly Harness[]): Promise<FoundHome[]> => {
  const found: FoundHome[] = []
  for (const home of HOMES) {
    if (only && !only.includes(home.harness)) continue
    const named = env[home.variable] || join(env.HOME || homedir(), home.folder)
    const folder = await realpath(named).catch(() => undefined)
    if (folder !== undefined) found.push({ home, folder })
  }
  return found
}

/** How a session is called that names itself in its first record; kept, so that it is not read again. */
export interface KnownNames {
  nameOf(source: string): Promise<string | undefined>
}

/**
 * The sessions of a home as they lie there now. Links are reported and never followed; what has no place is passed over, and
 * reported where it looks like a history.
 */
export const findSessions = async (
  { home, folder }: FoundHome,
  names: KnownNames,
  counters: Counters,
  unread: (what: Unread) => void,
): Promise<FoundSession[]> => {
  const { harness } = home
  const leftOut = (at: string, reason: string) => unread({ harness, source: join(folder, at), reason })
  const sessions = new Map<string, Map<string, FoundFile>>()
  const placeless = new Placeless()
  for (const root of home.roots) {
    for await (const path of walk(folder, root, leftOut)) {
      const place = home.place(path)
      if (!place) {
        placeless.meet(path)
        continue
      }
      const source = join(folder, path)
      const file = { source, path: place.path, isPacked: place.compressed !== undefined }
      const id = home.nameIn ? ((await named(home, file, names, counters)) ?? place.id) : place.id
      const refusal = refusalOf({ id, path: place.path })
      if (refusal !== undefined) {
        unread({ harness, source, reason: refusal })
        continue
      }
      const files = sessions.get(id) ?? new Map<string, FoundFile>()
      sessions.set(id, files)
      const other = files.get(place.path)
      const chosen = other ? await oneOf(other, file) : file
      files.set(place.path, chosen)
      const passedOver = chosen === file ? other : file
      if (passedOver?.isPacked === chosen.isPacked)
        unread({
          harness,
          source: passedOver.source,
          reason: `it is the same file of a session as ${chosen.source}, which is newer`,
        })
    }
  }
  for (const [id, files] of sessions) {
    if (home.isSession?.(new Set(files.keys())) ?? true) continue
    for (const { source } of files.values()) placeless.meet(relative(folder, source).replaceAll(sep, '/'))
    sessions.delete(id)
  }
  placeless.tell(leftOut)
  return [...sessions].map(([id, files]) => ({
    harness,
    id,
    home: folder,
    files: inOrder(harness, id, files),
  }))
}

/**
 * Which of two files of one place in a session is sent. The packed one and the plain one are the same file, and what is not
 * packed costs less to read; of others the one that was written last is the one in use.
 */
const oneOf = async (a: FoundFile, b: FoundFile): Promise<FoundFile> => {
  if (a.isPacked !== b.isPacked) return a.isPacked ? b : a
  const [one, two] = await Promise.all([a, b].map(({ source }) => lookAt(source).catch(() => undefined)))
  if (!one || !two) return one ? a : b
  return BigInt(one.mtime_ns) < BigInt(two.mtime_ns) ? b : a
}

const inOrder = (harness: Harness, id: string, files: ReadonlyMap<string, FoundFile>): FoundFile[] =>
  [...files.values()].sort(
    (a, b) =>
      sendingOrder(harness, id, a.path) - sendingOrder(harness, id, b.path) || (a.path < b.path ? -1 : 1),
  )

const named = async (
  home: Home,
  file: Source,
  names: KnownNames,
  counters: Counters,
): Promise<string | undefined> => {
  const known = await names.nameOf(file.source)
  if (known !== undefined) return known
  const head = await firstBytes(file, HEAD_BYTES, counters)
  return head && home.nameIn?.(head)
}

/** Paths of regular files below `at`, in order of their names; `/` separates them on every system. */
async function* walk(
  home: string,
  at: string,
  leftOut: (path: string, reason: string) => void,
): AsyncGenerator<string> {
  const entries = await entriesOf(join(home, at)).catch((error: NodeJS.ErrnoException) => {
    if (!isGone(error)) leftOut(at, `the folder cannot be read: ${error.message}`)
    return []
  })
  if (!entries) return leftOut(at, 'it is a link')
  for (const entry of entries) {
    if (isUnfinishedName(entry.name)) continue
    const path = `${at}/${entry.name}`
    if (!(await isSpelled(join(home, path)))) leftOut(path, 'its name is not UTF-8')
    else if (entry.isDirectory()) yield* walk(home, path, leftOut)
    else if (entry.isFile()) yield path
    else leftOut(path, entry.isSymbolicLink() ? 'it is a link' : 'it is not a regular file')
  }
}

/** Undefined where a link leads to the folder. */
const entriesOf = async (folder: string): Promise<Dirent[] | undefined> => {
  if ((await realpath(folder)) !== folder) return undefined
  const found = await readdir(folder, { withFileTypes: true })
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Bytes of a name that are no UTF-8 come as U+FFFD, and a file of the name that is shown is not there. */
const isSpelled = async (path: string): Promise<boolean> =>
  !path.includes('\ufffd') ||
  (await lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => !isGone(error),
  ))
