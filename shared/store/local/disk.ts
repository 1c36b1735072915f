import { randomUUID } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { RunfoldError } from '../../schema/index.ts'
import type { Clock } from '../ports.ts'
import { diskError, errnoOf } from './disk-error.ts'

/** What a disk is given beside its folder. */
export interface DiskOptions {
  readonly clock: Clock
  /** Called once, when an fsync failed: what the disk holds is not known any more, so the process must end. */
  readonly onFatal: (error: Error) => void
  /** For tests; default is fsync, on macOS with F_FULLFSYNC. */
  readonly sync?: (handle: FileHandle) => Promise<void>
}

/** A file that is to be there, and what writes its bytes. */
export interface NewFile {
  /** Relative to the disk's folder. */
  readonly file: string
  readonly fill: (handle: FileHandle) => Promise<void>
}

/** Files that are there whole or not at all, and still after the power went (P2). */
export class Disk {
  readonly #root: string
  readonly #temporary: string
  readonly #options: DiskOptions
  /** Folders whose own entry is known to be durable. */
  readonly #folders = new Set<string>()
  #broken: RunfoldError | undefined

  constructor(root: string, options: DiskOptions) {
    this.#root = root
    this.#temporary = path.join(root, '.temporary')
    this.#options = options
  }

  /** Removes what a killed server left half written. Only for the one that holds the lock on the folder. */
  async clean(): Promise<void> {
    await this.#makeFolder(this.#temporary)
    for (const name of await readdir(this.#temporary)) await rm(path.join(this.#temporary, name))
  }

  absolute(file: string): string {
    return path.join(this.#root, file)
  }

  /** Writes beside, fsyncs, renames, fsyncs the folder, which all files share: durable when it resolves. */
  async write(files: readonly NewFile[]): Promise<void> {
    if (this.#broken) throw this.#broken
    const written = files.map(({ file }) => ({
      target: this.absolute(file),
      temporary: path.join(this.#temporary, randomUUID()),
    }))
    const folder = path.dirname(written[0]?.target ?? this.#root)
    try {
      await this.#makeFolder(folder)
      await allDone(files.map(({ fill }, i) => this.#fill(written[i]?.temporary ?? '', fill)))
      for (const { temporary, target } of written) await rename(temporary, target)
      await this.#syncFolder(folder)
    } catch (error) {
      for (const { temporary } of written) await rm(temporary, { force: true }).catch(() => {})
      throw diskError(error)
    }
  }

  async #fill(temporary: string, fill: NewFile['fill']): Promise<void> {
    const handle = await open(temporary, 'wx')
    try {
      await fill(handle)
      const seconds = this.#options.clock.now() / 1000
      await handle.utimes(seconds, seconds)
      await this.#sync(handle)
    } finally {
      await handle.close()
    }
  }

  /** Stops everything: called here and where the index cannot trust its disk any more. */
  fail(cause: unknown): RunfoldError {
    if (!this.#broken) {
      this.#broken = new RunfoldError('internal', 'an fsync failed, the server stops', {}, { cause })
      this.#options.onFatal(this.#broken)
    }
    return this.#broken
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#folders.has(folder)) return
    const parent = path.dirname(folder)
    if (folder !== this.#root) await this.#makeFolder(parent)
    await mkdir(folder, { recursive: true })
    await this.#syncFolder(parent)
    this.#folders.add(folder)
  }

  async #syncFolder(folder: string): Promise<void> {
    const handle = await open(folder, 'r')
    try {
      await this.#sync(handle)
    } finally {
      await handle.close()
    }
  }

  async #sync(handle: FileHandle): Promise<void> {
    try {
      await (this.#options.sync?.(handle) ?? handle.sync())
    } catch (error) {
      // Some file systems find out only now that they are full. The file is not named yet, so nothing is lost.
      if (errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT') throw error
      throw this.fail(error)
    }
  }
}

/** Waits for all of them, also after one has failed, so that nothing is written behind the caller's back. */
async function allDone(tasks: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(tasks)).find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
