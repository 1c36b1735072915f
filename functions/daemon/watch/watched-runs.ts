import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FileIdentity } from './archive-file.ts'
import type { RunPlace } from './run-state.ts'

/** A run that is watched: all that an idle one costs. */
export interface WatchedRun {
  readonly place: RunPlace
  /** The file as the last look found it; empty where there was none. */
  seen: string
  /** When something last told of a change, in milliseconds that never jump. */
  changedAt: number
  /** Whether this process has not looked at it yet. */
  isFirst: boolean
  isBusy: boolean
}

/** One file state in one text. */
export const seenAs = (file: FileIdentity | null | undefined): string =>
  file ? [file.dev, file.ino, file.size, file.mtime, file.ctime].join(':') : ''

/** The same of the file as it is now. */
const seenNow = async (path: string): Promise<string> => {
  const now = await stat(path, { bigint: true }).catch(() => undefined)
  return now ? [now.dev, now.ino, now.size, now.mtimeNs, now.ctimeNs].join(':') : ''
}

/** The runs of a folder, by id and by the folder they lie in, and a round that passes by each of them in turn. */
export class WatchedRuns {
  readonly #runs = new Map<string, WatchedRun>()
  readonly #ofFolder = new Map<string, string>()
  #round: Iterator<WatchedRun> | undefined

  get size(): number {
    return this.#runs.size
  }

  get(run: string): WatchedRun | undefined {
    return this.#runs.get(run)
  }

  /** The run whose archive lies in a folder of its own. */
  inFolder(folder: string): WatchedRun | undefined {
    return this.#runs.get(this.#ofFolder.get(folder) ?? '')
  }

  /** False when it was there already, at this very place. */
  add(place: RunPlace, now: number): boolean {
    if (this.#runs.get(place.run_id)?.place.path === place.path) return false
    this.#runs.set(place.run_id, { place, seen: '', changedAt: now, isFirst: true, isBusy: false })
    this.#ofFolder.set(dirname(place.path), place.run_id)
    return true
  }

  delete({ run_id, path }: RunPlace): void {
    this.#runs.delete(run_id)
    this.#ofFolder.delete(dirname(path))
  }

  [Symbol.iterator](): Iterator<WatchedRun> {
    return this.#runs.values()
  }

  /** The next `count` runs of the round; fewer at its end. */
  *some(count: number): Generator<WatchedRun> {
    const round = this.#round ?? this.#runs.values()
    this.#round = round
    for (let i = 0; i < count; i++) {
      const next = round.next()
      if (next.done) {
        this.#round = undefined
        return
      }
      yield next.value
    }
  }
}

/** Whether a run's file is another than the last look found. */
export const hasChanged = async ({ place, seen }: WatchedRun): Promise<boolean> =>
  (await seenNow(place.path)) !== seen
