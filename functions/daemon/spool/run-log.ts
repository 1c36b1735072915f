import { mkdir, open, readdir, rm, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  encodeSpoolRecord,
  mergeRecords,
  readSegment,
  type SpoolRecord,
  segmentName,
  segmentStart,
} from './segment.ts'

/** A segment that has grown so far gets a successor, so that what is sent frees its room soon. */
const SEGMENT_BYTES = 8 * 1024 * 1024

interface SegmentFile {
  /** Archive positions; the end is exclusive. */
  readonly start: number
  end: number
  /** Bytes on disk. */
  size: number
}

interface Pending {
  readonly record: SpoolRecord
  readonly resolve: (end: number) => void
  readonly reject: (error: unknown) => void
}

/** The spooled appends of one run, in order, in files of their own. What comes together shares one fsync. */
export class RunLog {
  readonly #folder: string
  readonly #isSynced: boolean
  readonly #segments: SegmentFile[]
  #pending: Pending[] = []
  #isWriting = false
  /** The disk can no longer be trusted with this run; nothing more is acknowledged. */
  #broken: unknown

  private constructor(folder: string, isSynced: boolean, segments: SegmentFile[]) {
    this.#folder = folder
    this.#isSynced = isSynced
    this.#segments = segments
  }

  /** Cuts off what was never acknowledged. @throws SpoolDamaged */
  static async open(folder: string, isSynced: boolean): Promise<RunLog> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (isSynced) await syncFolder(dirname(folder))
    const starts = (await readdir(folder)).map(segmentStart).filter((start) => start !== undefined)
    const segments: SegmentFile[] = []
    for (const start of starts.sort((a, b) => a - b)) {
      const path = join(folder, segmentName(start))
      const { records, length, tornBytes } = await readSegment(path)
      if (tornBytes > 0) await truncate(path, length)
      const bytes = bytesIn(records)
      if (bytes === 0) await rm(path)
      else segments.push({ start, end: start + bytes, size: length })
    }
    return new RunLog(folder, isSynced, segments)
  }

  /** Where the next append belongs; undefined when nothing is here. */
  get end(): number | undefined {
    const durable = this.durableEnd
    return durable === undefined ? undefined : durable + bytesIn(this.#pending.map(({ record }) => record))
  }

  /** Where that ends which is on the disk. */
  get durableEnd(): number | undefined {
    return this.#segments.at(-1)?.end
  }

  /** Bytes on disk. */
  get size(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0)
  }

  /** Resolves with the archive position of its end when the record is on the disk. */
  append(offset: number, record: SpoolRecord): Promise<number> {
    if (this.#segments.length === 0) this.#segments.push({ start: offset, end: offset, size: 0 })
    return new Promise((resolve, reject) => {
      this.#pending.push({ record, resolve, reject })
      if (!this.#isWriting) void this.#write()
    })
  }

  /** The records of the oldest segment, and where they begin. */
  async oldest(): Promise<{ readonly start: number; readonly records: readonly SpoolRecord[] } | undefined> {
    const [segment] = this.#segments
    if (!segment || segment.size === 0) return undefined
    const { records } = await readSegment(join(this.#folder, segmentName(segment.start)), segment.size)
    return { start: segment.start, records }
  }

  /** Every record with its archive position. */
  async *all(): AsyncGenerator<SpoolRecord & { readonly offset: number }> {
    for (const { start, size } of [...this.#segments]) {
      const { records } = await readSegment(join(this.#folder, segmentName(start)), size)
      let offset = start
      for (const record of records) {
        yield { ...record, offset }
        offset += record.bytes.length
      }
    }
  }

  /** Removes the segments that end at or before `tail`; while one is being written to, it stays. */
  async dropTo(tail: number): Promise<void> {
    while (this.#segments[0] && this.#segments[0].end <= tail) {
      if (this.#segments.length === 1 && (this.#isWriting || this.#pending.length > 0)) return
      const [{ start }] = this.#segments.splice(0, 1) as [SegmentFile]
      await rm(join(this.#folder, segmentName(start)), { force: true })
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
    const path = join(this.#folder, segmentName(segment.start))
    const bytes = Buffer.concat(mergeRecords(records).map(encodeSpoolRecord))
    const file = await open(path, 'a', 0o600)
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

  /** After a full disk its room may come again; after a failed fsync nobody knows what the disk holds. */
  async #undo(path: string, size: number, error: unknown): Promise<void> {
    if ((error as NodeJS.ErrnoException).syscall?.endsWith('sync')) this.#broken = error
    await truncate(path, size).catch(() => {
      this.#broken = error
    })
  }
}

const bytesIn = (records: readonly SpoolRecord[]): number =>
  records.reduce((sum, { bytes }) => sum + bytes.length, 0)

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
