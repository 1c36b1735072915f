import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, lstat, mkdir, open, realpath, rm } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Client } from '#client'
import { type ListedSession, RunfoldError, type SessionFileRow } from '#schema'
import { writeAll } from '../write-all.ts'
import { placeOf } from './restore-place.ts'
import { unfinishedName } from './restore-unfinished.ts'

export interface RestoreOptions {
  readonly client: Client
  readonly entry: ListedSession
  /** The harness home that the files are to lie in. */
  readonly home: string
  /** The folder the session is to be carried on in. */
  readonly cwd: string
  readonly signal: AbortSignal
}

export interface Restored {
  /** Absolute. */
  readonly path: string
  readonly bytes: number
  /** It lay there already, with these very bytes. */
  readonly wasThere: boolean
}

/**
 * Writes the newest generation of every file of a session into a harness home, byte for byte and checked by its digest. A
 * file that lies there with other bytes is never touched. After an interruption, what was finished is found and left.
 *
 * @throws exists where other bytes stand in the way, before anything is written
 */
export async function* restoreSession(options: RestoreOptions): AsyncGenerator<Restored> {
  const { client, entry } = options
  const { items } = await client.sessionFiles(entry)
  await mkdir(options.home, { recursive: true, mode: 0o700 }).catch(notAFolder(options.home))
  const home = await realpath(options.home)
  const wanted = items
    .filter(({ current }) => current)
    .map((file) => ({ file, path: join(home, placeOf({ ...entry, cwd: options.cwd }, file.path)) }))
  const there = new Map<string, boolean>()
  for (const { file, path } of wanted) there.set(path, await isThere(path, file))
  for (const { file, path } of wanted) {
    options.signal.throwIfAborted()
    const wasThere = there.get(path) === true || !(await fetchFile(options, home, file, path))
    yield { path, bytes: file.tail, wasThere }
  }
}

const isThere = async (path: string, { tail, digest }: SessionFileRow): Promise<boolean> => {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (!found) return false
  if (found.isFile() && found.size === tail && (await digestOfFile(path)) === digest) return true
  throw new RunfoldError('exists', `${path} is there with other content; it is not touched`)
}

const digestOfFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/**
 * Under another name until every byte is there and on the disk; then it takes its own. False when another restore has brought
 * it meanwhile.
 */
const fetchFile = async (
  { client, entry }: RestoreOptions,
  home: string,
  row: SessionFileRow,
  path: string,
): Promise<boolean> => {
  const { path: name, generation, digest } = row
  await makeFolders(home, dirname(path))
  const unfinished = join(dirname(path), unfinishedName())
  const file = await open(unfinished, 'wx', 0o600)
  try {
    const hash = createHash('sha256')
    const { chunks } = await client.sessionRaw(entry, { path: name, generation })
    for await (const chunk of chunks) {
      hash.update(chunk)
      await writeAll(file, chunk)
    }
    if (hash.digest('hex') !== digest)
      throw new RunfoldError('internal', `what came of ${name} is not what is archived`)
    await file.sync()
    return await link(unfinished, path).then(
      () => true,
      async (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST' && (await isThere(path, row))) return false
        throw error
      },
    )
  } finally {
    await file.close()
    await rm(unfinished, { force: true })
  }
}

const notAFolder = (path: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTDIR') throw error
  throw new RunfoldError('exists', `${path} is not a folder`)
}

/** Each folder below the home must be one and no link, or a file would be written somewhere else. */
const makeFolders = async (home: string, folder: string): Promise<void> => {
  let at = home
  for (const segment of relative(home, folder).split(sep)) {
    at = join(at, segment)
    await mkdir(at, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if (!(await lstat(at)).isDirectory()) throw new RunfoldError('exists', `${at} is not a folder`)
  }
}
