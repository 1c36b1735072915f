import { type FSWatcher, watch } from 'node:fs'

/** Told that something of this name in a folder has changed, or something of no known name; what, is to be found out. */
export type OnChange = (folder: string, name: string | null) => void

/**
 * Events of a folder and the folders in it, one watch each and none per file: that is what thousands of runs can afford.
 * Events are only ever a hint, since file systems lose them and some have none; who needs certainty looks by itself.
 */
export class FolderEvents implements Disposable {
  readonly #onChange: OnChange
  readonly #watchers = new Map<string, FSWatcher>()
  #refused = 0

  constructor(onChange: OnChange) {
    this.#onChange = onChange
  }

  /** Folders that had to be left to the poll: the system gives out no more watches, or the file system has none. */
  get refused(): number {
    return this.#refused
  }

  add(folder: string): void {
    if (this.#watchers.has(folder)) return
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => this.#onChange(folder, name))
      // Such as the folder's end; the listing will tell.
      watcher.on('error', () => this.remove(folder))
      this.#watchers.set(folder, watcher)
    } catch {
      this.#refused++
    }
  }

  remove(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }
}
