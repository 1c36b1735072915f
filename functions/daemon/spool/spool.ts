import { mkdir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPreamble, PREAMBLE_BYTES, walkFrames } from '#codec'
import { RunfoldError, runId } from '#schema'
import { takeLock } from '../folder-lock.ts'
import { RunLog } from './run-log.ts'
import type { SpoolRecord } from './segment.ts'

export interface SpoolOptions {
  /** A folder of the spool's own; one process at a time. Made when it is not there. */
  readonly folder: string
  /** All runs together; an append that would be over it is refused. @default 1 GiB */
  readonly maxBytes?: number
  /**
   * `always`: an append resolves when it would outlive a power cut. `never`: when it would outlive the end of the process.
   *
   * @default 'always'
   */
  readonly fsync?: 'always' | 'never'
}

/** What is appended: whole frames, at offset 0 behind the preamble. */
export interface SpoolAppend {
  readonly run_id: string
  /** Archive position of the first byte; must be where the run ends in the spool, if it holds any of it. */
  readonly offset: number
  /** The epoch under which the writer owns the run; left out when it has never been able to ask for the lease. */
  readonly epoch?: number
  readonly bytes: Uint8Array
}

const MAX_BYTES = 1024 ** 3
const LOCK_FILE = 'spool.lock'

/**
 * Appends that are first durable on this disk, so that no network is needed to work: `append` resolves when they are, and
 * `drainSpool` brings them to the server in order and once. What is torn by the end of a process is cut off when the
 * spool is opened again; it was never acknowledged.
 *
 * A run of which something acknowledged is damaged takes no more appends, and its draining stops there, with SpoolDamaged; the
 * others are at work.
 *
 * @throws Error when another process has the folder
 */
export const openSpool = async (options: SpoolOptions): Promise<Spool> => {
  const { folder, fsync = 'always', maxBytes = MAX_BYTES } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = takeLock(join(folder, LOCK_FILE))
  if (!lock) throw new Error(`another process uses the spool in ${folder}`)
  try {
    const logs = new Map<string, RunLog>()
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue
      const log = await RunLog.open(join(folder, entry.name), fsync === 'always')
      if (log.end === undefined && !log.damage) await rmdir(join(folder, entry.name)).catch(() => undefined)
      else logs.set(runOfFolder(entry.name), log)
    }
    return new Spool(folder, maxBytes, fsync === 'always', logs, lock)
  } catch (error) {
    lock[Symbol.dispose]()
    throw error
  }
}

export class Spool implements Disposable {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #isSynced: boolean
  readonly #logs: Map<string, RunLog>
  readonly #lock: Disposable
  readonly #opening = new Map<string, Promise<RunLog>>()
  #listeners: (() => void)[] = []
  /** Bytes of appends that are being written. */
  #coming = 0
  #isClosed = false

  constructor(
    folder: string,
    maxBytes: number,
    isSynced: boolean,
    logs: Map<string, RunLog>,
    lock: Disposable,
  ) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#isSynced = isSynced
    this.#logs = logs
    this.#lock = lock
  }

  /** Bytes on disk. */
  get size(): number {
    let size = 0
    for (const log of this.#logs.values()) size += log.size
    return size
  }

  /** The folder was given free; nothing of it may be touched any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The runs of which something waits. */
  runs(): readonly string[] {
    if (this.#isClosed) return []
    return [...this.#logs].filter(([, log]) => log.end !== undefined || log.damage).map(([run]) => run)
  }

  /** Where the next append of a run belongs; undefined when nothing of it waits, and the server knows it. */
  end(run_id: string): number | undefined {
    return this.#logs.get(run_id)?.end
  }

  /**
   * Resolves with the archive position of its end when the append is durable.
   *
   * @throws slow_down when the spool is full: nothing was taken, and the same append may come again when there is room
   * @throws gap, overlap when it does not begin where the run ends here (`tail`)
   * @throws bad_frames when it is not whole frames
   * @throws SpoolDamaged when something of the run that was acknowledged is not on the disk any more
   */
  async append({ run_id, offset, epoch = 0, bytes }: SpoolAppend): Promise<number> {
    if (this.#isClosed) throw new Error('the spool is closed')
    runId.parse(run_id)
    checkWhole(bytes, offset)
    const used = this.size + this.#coming
    if (used + bytes.length > this.#maxBytes) {
      const facts = { spool_bytes: used, max_bytes: this.#maxBytes, retry_after_s: 1 }
      throw new RunfoldError('slow_down', 'the spool is full; nothing of this append was taken', facts)
    }
    this.#coming += bytes.length
    try {
      const log = this.#logs.get(run_id) ?? (await this.#open(run_id))
      const tail = log.end
      if (tail !== undefined && tail !== offset) throw misplaced(run_id, offset, tail)
      const end = await log.append(offset, { epoch, bytes })
      this.wake()
      return end
    } finally {
      this.#coming -= bytes.length
      this.#giveFreeIfIdle()
    }
  }

  /** What waits of a run, oldest first: to keep it elsewhere before it is discarded. Memory holds a segment of it. */
  async *records(run_id: string): AsyncGenerator<SpoolRecord & { readonly offset: number }> {
    yield* this.#logs.get(run_id)?.all() ?? []
  }

  /** Removes what waits of a run that cannot go on, such as one that another owner has taken, or that is damaged. */
  async discard(run_id: string): Promise<void> {
    await this.#logs.get(run_id)?.clear()
  }

  /** The log of a run, for whoever drains it. */
  log(run_id: string): RunLog | undefined {
    return this.#logs.get(run_id)
  }

  /** Resolves at the next append, or when it is woken. */
  appended(): Promise<void> {
    return new Promise((resolve) => this.#listeners.push(resolve))
  }

  wake(): void {
    for (const listener of this.#listeners.splice(0)) listener()
  }

  /** Gives the folder free as soon as what is being appended is written. */
  [Symbol.dispose](): void {
    this.#isClosed = true
    this.wake()
    this.#giveFreeIfIdle()
  }

  #giveFreeIfIdle(): void {
    if (this.#isClosed && this.#coming === 0) this.#lock[Symbol.dispose]()
  }

  #open(run_id: string): Promise<RunLog> {
    const known = this.#opening.get(run_id)
    if (known) return known
    const opening = RunLog.open(join(this.#folder, folderOfRun(run_id)), this.#isSynced)
      .then((log) => {
        this.#logs.set(run_id, log)
        return log
      })
      // What could not be opened, on a full disk for example, may be opened later.
      .finally(() => this.#opening.delete(run_id))
    this.#opening.set(run_id, opening)
    return opening
  }
}

/** Some file systems take `Run` and `run` for one name. */
const folderOfRun = (run_id: string): string =>
  run_id.replaceAll(/[A-Z]/g, (letter) => `=${letter.toLowerCase()}`)
const runOfFolder = (name: string): string =>
  name.replaceAll(/=([a-z])/g, (_, letter) => letter.toUpperCase())

const checkWhole = (bytes: Uint8Array, offset: number): void => {
  if (offset === 0) checkPreamble(bytes.subarray(0, PREAMBLE_BYTES))
  for (const _ of walkFrames(offset === 0 ? bytes.subarray(PREAMBLE_BYTES) : bytes, { offset })) {
    // Walking them is the check.
  }
}

const misplaced = (run_id: string, offset: number, tail: number) =>
  new RunfoldError(
    offset > tail ? 'gap' : 'overlap',
    `what waits of ${run_id} ends at ${tail}, the append begins at ${offset}`,
    { tail },
  )
