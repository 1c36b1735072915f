import type { RunKey } from '../schema/index.ts'
import type { Head } from './ports.ts'
import { runName } from './run-name.ts'

/** Runs whose head is kept; the least recently appended to go first. */
const MOST_HEADS = 1000

/**
 * Heads as the appends of this process have left them, so that the next one of a run need not read what it knows (DESIGN.md, "Append"
 * 2). A guess, never an answer: every commit is conditional on all that an append relies on, and where it fails the head
 * is read. Kept only while maintenance has nothing to do with the run, since of extents and due times a commit asks nothing.
 */
export class WarmHeads {
  readonly #heads = new Map<string, Head>()

  /** Remembers the head as a commit of this process has just left it. */
  keep(run: RunKey, head: Head): void {
    const name = runName(run)
    this.#heads.delete(name)
    this.#heads.set(name, head)
    if (this.#heads.size <= MOST_HEADS) return
    const [oldest] = this.#heads.keys()
    if (oldest !== undefined) this.#heads.delete(oldest)
  }

  /**
   * The head that such a writer would go on from at `offset`, which is then forgotten; `now` in ms. Undefined for whoever may not
   * write: that is to be told by a head that was read.
   */
  take(run: RunKey, writer: { readonly epoch: number; readonly life?: number }, offset: number, now: number) {
    const head = this.#heads.get(runName(run))
    this.#heads.delete(runName(run))
    if (!head || head.epoch !== writer.epoch || head.tail !== offset) return undefined
    if (writer.life !== undefined && writer.life !== head.life) return undefined
    return head.due_at !== null && head.due_at > now ? head : undefined
  }

  forget(run: RunKey): void {
    this.#heads.delete(runName(run))
  }
}
