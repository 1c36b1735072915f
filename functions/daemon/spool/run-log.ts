import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bytesIn, foundSegments, type SegmentFile } from './found-segments.ts'
import {
  encodeSpoolRecord,
  mergeRecords,
  readSegment,
  SpoolDamaged,
  type SpoolRecord,
  segmentName,
  segmentStart,
} from './segment.ts'

/** A segment that has grown so far gets a successor, so that what is sent frees its room soon. */
const SEGMENT_BYTES = 8 * 1024 * 1024

interface Pending {
  readonly record: SpoolRecord
  readonly resolve: (end: number) => void
  readonly reject: (error: unknown) => void
}

/** The records of one segment, and where they begin. */
export interface Stretch {
  readonly start: number
  readonly records: readonly SpoolRecord[]
  /** Of what follows them. */
  readonly damage: SpoolDamaged | undefined
}

/** The spooled appends of one run, in order, in files of their own. What comes together shares one fsync. */
export class RunLog {
  readonly #folder: string
  readonly #isSynced: boolean
  readonly #segments: SegmentFile[]
  #pending: Pending[] = []
  #isWriting = false
  #written: Promise<void> = Promise.resolve()
  /** Files are removed one after the other, and before another can take the name of one. */
  #removing: Promise<void> = Promise.resolve()
  /** The disk can no longer be trusted with this run; nothing more is acknowledged. */
  #broken: unknown
  #damage: SpoolDamaged | undefined
  #cleared = 0

  private constructor(folder: string, isSynced: boolean, segments: SegmentFile[], damage?: SpoolDamaged) {
    this.#folder = folder
    this.#isSynced = isSynced
    this.#segments = segments
    this.#damage = damage
  }

  /** Cuts off what was never acknowledged. What is damaged stays on the disk, with all that stands behind it. */
  static async open(folder: string, isSynced: boolean): Promise<RunLog> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (isSynced) await syncFolder(dirname(folder))
    const { segments, damage } = await foundSegments(folder)
    return new RunLog(folder, isSynced, segments, damage)
  }

  /** Where the next append belongs; undefined when nothing is here. */
  get end(): number | undefined {
    const last = this.#segments.at(-1)
    return last && last.end + bytesIn(this.#pending.map(({ record }) => record))
  }

  /** Where that ends which is on the disk, and is what was written; undefined before anything is. */
  get durableEnd(): number | undefined {
    return this.#segments.findLast(({ size }) => size > 0)?.end
  }

  /** Bytes on disk. */
  get size(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0)
  }

  /** Something acknowledged is lost, behind `durableEnd`; only discarding the run ends this. */
  get damage(): SpoolDamaged | undefined {
    return this.#damage
  }

  /** How often everything was discarded: what was known of the run before does not hold for what comes after. */
  get cleared(): number {
    return this.#cleared
  }

  /**
   * Resolves with the archive position of its end when the record is on the disk.
   *
   * @throws SpoolDamaged
   */
  append(offset: number, record: SpoolRecord): Promise<number> {
    if (this.#damage) return Promise.reject(this.#damage)
    if (this.#segments.length === 0) this.#segments.push({ start: offset, end: offset, size: 0 })
    return new Promise((resolve, reject) => {
      this.#pending.push({ record, resolve, reject })
      if (!this.#isWriting) this.#written = this.#write()
    })
  }

  /** The oldest segment. */
  async oldest(): Promise<Stretch | undefined> {
    const [segment] = this.#segments
    return segment && segment.size > 0 ? this.#read(segment) : undefined
  }

  /** Every record with its archive position. */
  async *all(): AsyncGenerator<SpoolRecord & { readonly offset: number }> {
    for (const segment of [...this.#segments]) {
      const { start, records } = await this.#read(segment)
      let offset = start
      for (const record of records) {
        yield { ...record, offset }
        offset += record.bytes.length
      }
    }
  }

  /** Removes the segments that end at or before `tail`; while one is being written to, or is damaged, it stays. */
  async dropTo(tail: number): Promise<void> {
    const stays = () => this.#segments.length === 1 && (this.#isWriting || this.#damage)
    while (this.#segments[0] && this.#segments[0].end <= tail && !stays()) {
      const [{ start }] = this.#segments.splice(0, 1) as [SegmentFile]
      await this.#removeLater(async () => [segmentName(start)])
    }
  }

  /** Removes everything, damaged or not; then the run may begin anew. */
  async clear(): Promise<void> {
    while (this.#isWriting) await this.#written
    this.#cleared++
    this.#segments.splice(0)
    this.#broken = undefined
    this.#damage = undefined
    await this.#removeLater(async () =>
      (await readdir(this.#folder)).filter((name) => segmentStart(name) !== undefined),
    )
  }

  #removeLater(names: () => Promise<readonly string[]>): Promise<void> {
    const removed = this.#removing.then(async () => {
      for (const name of await names()) await rm(join(this.#folder, name), { force: true })
    })
    this.#removing = removed.catch(() => undefined)
    return removed
  }

  async #read({ start, size }: SegmentFile): Promise<Stretch> {
    const path = join(this.#folder, segmentName(start))
    try {
      const { records, damage } = await readSegment(path, size)
      this.#damage ??= damage
      return { start, records, damage }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#damage ??= gone(path, error)
      return { start, records: [], damage: this.#damage }
    }
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#pending.length > 0) {
      const writing = [...this.#pending]
      try {
        if (this.#broken) throw this.#broken
        const stored = writing.map(({ record }) => record)
        await this.#store(stored)
        this.#pending = this.#pending.slice(writing.length)
        let end = (this.durableEnd as number) - bytesIn(stored)
        for (const { record, resolve } of writing) {
          end += record.bytes.length
          resolve(end)
        }
      } catch (error) {
        // Those that came meanwhile were to stand behind these.
        for (const { reject } of this.#pending.splice(0)) reject(error)
        if (this.#segments.at(-1)?.size === 0) this.#segments.pop()
      }
    }
    this.#isWriting = false
  }

  async #store(records: readonly SpoolRecord[]): Promise<void> {
    let segment = this.#segments.at(-1) as SegmentFile
    if (segment.size >= SEGMENT_BYTES) {
      segment = { start: segment.end, end: segment.end, size: 0 }
      this.#segments.push(segment)
    }
    await this.#removing
    const path = join(this.#folder, segmentName(segment.start))
    const bytes = Buffer.concat(mergeRecords(records).map(encodeSpoolRecord))
    const file = await this.#openAtEnd(path, segment.size)
    try {
      await file.appendFile(bytes)
      if (this.#isSynced) await file.datasync()
      // A new file is there for good only when its name is.
      if (this.#isSynced && segment.size === 0) await syncFolder(this.#folder)
    } catch (error) {
      await this.#undo(path, segment.size, error)
      throw error
    } finally {
      await file.close()
    }
    segment.size += bytes.length
    segment.end += bytesIn(records)
  }

  /**
   * A segment to write behind its first `size` bytes. What was acknowledged must still be there: behind less, a record would take
   * the archive position of another.
   *
   * @throws SpoolDamaged
   */
  async #openAtEnd(path: string, size: number): Promise<FileHandle> {
    const { O_WRONLY, O_APPEND, O_CREAT } = constants
    const file = await open(path, O_WRONLY | O_APPEND | (size === 0 ? O_CREAT : 0), 0o600).catch(
      (error: NodeJS.ErrnoException) => {
        if (size > 0 && error.code === 'ENOENT') this.#damage ??= gone(path, error)
        throw this.#damage ?? error
      },
    )
    const found = (await file.stat()).size
    if (found === size) return file
    await file.close()
    this.#damage ??= new SpoolDamaged(`${path} has ${found} bytes where ${size} were written`)
    throw this.#damage
  }

  /** After a full disk its room may come again; after a failed fsync nobody knows what the disk holds. */
  async #undo(path: string, size: number, error: unknown): Promise<void> {
    if ((error as NodeJS.ErrnoException).syscall?.endsWith('sync')) this.#broken = error
    await truncate(path, size).catch(() => {
      this.#broken = error
    })
  }
}

const gone = (path: string, cause: unknown) => new SpoolDamaged(`${path} is gone from the disk`, { cause })

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
