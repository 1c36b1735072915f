import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { handleChunks } from '../handle-chunks.ts'
import type { Counters } from './counters.ts'
import { LeftOut } from './left-out.ts'
import { unpackedBytes, unpackedSize } from './zstd-file.ts'

/** A pipe that has taken the name must not hold the sync up, and a link must not lead it anywhere. */
export const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** What tells one state of a file from another without reading it; times in nanoseconds, spelled as integers. */
export interface Identity {
  readonly dev: string
  readonly ino: string
  readonly size: number
  readonly mtime_ns: string
  readonly ctime_ns: string
}

/** The file became shorter while it was read: the next pass looks again. */
export class SourceMoved extends Error {}

const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): Identity => ({
  dev: String(dev),
  ino: String(ino),
  size: Number(size),
  mtime_ns: String(mtimeNs),
  ctime_ns: String(ctimeNs),
})

export const isSameIdentity = (a: Identity, b: Identity): boolean =>
  a.dev === b.dev &&
  a.ino === b.ino &&
  a.size === b.size &&
  a.mtime_ns === b.mtime_ns &&
  a.ctime_ns === b.ctime_ns

export const isGone = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENOENT' || code === 'ENOTDIR'

/**
 * File systems tell times by a clock of a few milliseconds a tick: two changes within one look like one. So a file is read when
 * that is over, and whatever changes it afterwards has another time.
 */
const TICK_MS = 20

const settled = async (handle: FileHandle): Promise<{ identity: Identity; isSettled: boolean }> => {
  for (let isFirst = true; ; isFirst = false) {
    const found = await handle.stat({ bigint: true })
    const age = Date.now() - Number(found.ctimeMs)
    const isSettled = age < 0 || age >= TICK_MS
    if (isSettled || !isFirst) return { identity: identityOf(found), isSettled }
    await sleep(TICK_MS)
  }
}

/** The identity of what lies there now, links not followed; undefined where nothing does. Reads nothing. */
export const lookAt = async (source: string): Promise<Identity | undefined> => {
  const found = await lstat(source, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (isGone(error)) return undefined
    throw error
  })
  if (found && !found.isFile()) throw new LeftOut('it is not a regular file')
  return found && identityOf(found)
}

export interface Source {
  /** Where it lies on this machine: a real path. */
  readonly source: string
  /** What counts are the bytes that come out of it. */
  readonly isPacked: boolean
}

/**
 * A source file open for one pass. All bytes come from the one file that was opened, whatever takes its name meanwhile,
 * and none beyond the size it had then. A rollout that was packed (`.zst`) counts as what it unpacks to.
 */
export class SourceFile implements AsyncDisposable {
  readonly #handle: FileHandle
  readonly #counters: Counters
  readonly #isPacked: boolean
  readonly #isSettled: boolean
  readonly identity: Identity
  /** Of the bytes that are archived. */
  readonly size: number

  private constructor(
    handle: FileHandle,
    counters: Counters,
    { identity, isSettled }: { readonly identity: Identity; readonly isSettled: boolean },
    packed: { readonly size: number } | undefined,
  ) {
    this.#handle = handle
    this.#counters = counters
    this.#isPacked = packed !== undefined
    this.identity = identity
    this.#isSettled = isSettled
    this.size = packed?.size ?? identity.size
  }

  /**
   * Undefined where there is no file any more.
   *
   * @param home the real path of the harness home; a link in any part of the path below it is not followed
   * @throws LeftOut with the reason
   */
  static async open(
    { source, isPacked }: Source,
    home: string,
    counters: Counters,
  ): Promise<SourceFile | undefined> {
    const seen = await lookAt(source)
    if (!seen) return undefined
    const handle = await open(source, READ).catch((error: NodeJS.ErrnoException) => {
      if (isGone(error)) return undefined
      if (error.code === 'ELOOP') throw new LeftOut('it is a link')
      throw error
    })
    if (!handle) return undefined
    try {
      const { identity, isSettled } = await settled(handle)
      if (identity.dev !== seen.dev || identity.ino !== seen.ino)
        throw new LeftOut('another file took its name while it was opened')
      if ((await realpath(source)) !== source || !source.startsWith(`${home}/`))
        throw new LeftOut('a link leads to it')
      const packed = isPacked ? { size: await unpackedSize(handle, counters) } : undefined
      return new SourceFile(handle, counters, { identity, isSettled }, packed)
    } catch (error) {
      await handle.close()
      if (isGone(error as NodeJS.ErrnoException)) return undefined
      throw error
    }
  }

  /** Whether the file still is what it was when it was opened, and nothing can have changed it unseen. */
  async isUnchanged(): Promise<boolean> {
    return (
      this.#isSettled && isSameIdentity(this.identity, identityOf(await this.#handle.stat({ bigint: true })))
    )
  }

  /** The bytes of a range, in pieces of at most 1 MiB. @throws SourceMoved where the file has become shorter */
  async *chunks(start: number, end: number): AsyncGenerator<Uint8Array> {
    if (start >= end) return
    const pieces = this.#isPacked
      ? unpackedBytes(this.#handle, start, end, this.#counters)
      : this.#plain(start, end)
    let left = end - start
    for await (const piece of pieces) {
      left -= piece.length
      yield piece
    }
    if (left > 0) throw new SourceMoved('the file became shorter while it was read')
  }

  async *#plain(start: number, end: number): AsyncGenerator<Uint8Array> {
    for await (const chunk of handleChunks(this.#handle, start, end)) {
      this.#counters.bytes_read += chunk.length
      yield chunk
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}
