import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { AppendSource } from '#client'
import { digestOf, EMPTY_DIGEST, extendDigest, loadDigest } from '#codec'
import { RunfoldError } from '#schema'
import { gathered, handleChunks } from '../handle-chunks.ts'

/** So much before the tail is looked at whenever the file has grown; the whole prefix is looked at more seldom. */
const EDGE_BYTES = 4096

/** Opening a pipe that has taken an archive's name must not wait for somebody to write into it. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** What tells one state of a file from another without reading it; times in nanoseconds, spelled as integers. */
export interface FileIdentity {
  readonly dev: string
  readonly ino: string
  readonly size: number
  readonly mtime: string
  readonly ctime: string
}

/** An archive's first bytes as they were when they were sent, to know them again without keeping them. */
export interface Prefix {
  readonly end: number
  /** Lower-case hex SHA-256 of archive bytes 0..end. */
  readonly digest: string
  /** The saved hash state of the same bytes, from which `extendDigest` goes on. */
  readonly state: string | null
  /** The digest of the last 4 KiB of them. */
  readonly edge: string
}

export const NO_PREFIX: Prefix = { end: 0, digest: EMPTY_DIGEST, state: null, edge: EMPTY_DIGEST }

/** A file that was cut while it was read: what it is now must be looked at anew. */
export class FileMoved extends Error {}

/**
 * A run's archive on this machine, open for one look at it. All bytes come from the one file that was opened, whatever takes
 * its name meanwhile, and none beyond the size it had then.
 */
export class ArchiveFile implements AppendSource {
  readonly #handle: FileHandle
  readonly #prefix: Prefix
  readonly identity: FileIdentity
  /** As far as it is to be sent. */
  readonly end: number

  private constructor(handle: FileHandle, identity: FileIdentity, prefix: Prefix, end: number) {
    this.#handle = handle
    this.#prefix = prefix
    this.identity = identity
    this.end = end
  }

  /** Undefined where there is no file. `prefix` is what is known of its beginning. */
  static async open(path: string, prefix: Prefix): Promise<ArchiveFile | undefined> {
    await loadDigest()
    const handle = await open(path, READ).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw error
    })
    if (!handle) return undefined
    try {
      const stat = await handle.stat({ bigint: true })
      if (!stat.isFile()) throw new RunfoldError('bad_request', `${path} is not a file`)
      const identity = identityIn(stat)
      return new ArchiveFile(handle, identity, prefix, identity.size)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** The same open file, to be sent up to another end, or with more known of its beginning. */
  as({ end = this.end, prefix = this.#prefix }: { end?: number; prefix?: Prefix }): ArchiveFile {
    return new ArchiveFile(this.#handle, this.identity, prefix, end)
  }

  async *chunks(start: number, end: number): AsyncGenerator<Uint8Array> {
    let at = start
    for await (const chunk of handleChunks(this.#handle, start, end)) {
      yield chunk
      at += chunk.length
    }
    if (at < end) throw new FileMoved(`the file ends at ${at}, ${end} was expected`)
  }

  read(start: number, end: number): Promise<Uint8Array> {
    return gathered(end - start, this.chunks(start, end))
  }

  async digest(end: number): Promise<string> {
    return (await this.prefixTo(end)).digest
  }

  /** What the first bytes are now, going on from what is known of them where that helps. */
  async prefixTo(end: number): Promise<Prefix> {
    const known = this.#prefix.end <= end ? this.#prefix : NO_PREFIX
    return (await this.#hash(known, end)) ?? this.reread(end)
  }

  /** The same, every byte read again. */
  async reread(end: number): Promise<Prefix> {
    const found = await this.#hash(NO_PREFIX, end)
    if (found) return found
    throw new RunfoldError('internal', 'a hash state made here is of an unknown version')
  }

  /** Whether the bytes just before the end of the prefix are what they were. */
  async hasEdgeOf({ end, edge }: Prefix): Promise<boolean> {
    return (await this.#edge(end)) === edge
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  async #edge(end: number): Promise<string> {
    return digestOf(await this.read(Math.max(0, end - EDGE_BYTES), end))
  }

  /** Undefined when the saved state cannot be read. */
  async #hash(from: Prefix, end: number): Promise<Prefix | undefined> {
    let saved = extendDigest(from.state, [])
    for await (const chunk of this.chunks(from.end, end)) saved = saved && extendDigest(saved.state, [chunk])
    return saved && { end, digest: saved.digest, state: saved.state, edge: await this.#edge(end) }
  }
}

const identityIn = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileIdentity => ({
  dev: String(dev),
  ino: String(ino),
  size: Number(size),
  mtime: String(mtimeNs),
  ctime: String(ctimeNs),
})
