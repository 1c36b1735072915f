import type { FramePlace } from './frame.ts'

/** A whole frame that is no record we know. */
export interface UnreadableFrame {
  readonly type: 'unreadable'
  readonly frame: FramePlace
  /** See `Unreadable.reason`. */
  readonly reason: string
}

/**
 * Whole frames behind each other of which it is not known yet whether they are frames at all: the first is not JSON, and
 * what follows must tell (LVR1.md 6d). Alike neighbours are counted, so a run of zeros costs next to nothing.
 */
export class Doubts {
  #first: FramePlace | undefined
  #runs: { length: number; reason: string; count: number }[] = []

  /** The frame where the archive is torn, if these turn out not to be frames. */
  get first(): FramePlace | undefined {
    return this.#first
  }

  add({ seq, offset, length }: FramePlace, reason: string): void {
    this.#first ??= { seq, offset, length }
    const last = this.#runs.at(-1)
    if (last?.length === length && last.reason === reason) last.count++
    else this.#runs.push({ length, reason, count: 1 })
  }

  /** They are frames after all: gives each of them, and forgets them. */
  *settle(): Generator<UnreadableFrame, void, undefined> {
    if (this.#first === undefined) return
    let { seq, offset } = this.#first
    const runs = this.#runs
    this.#first = undefined
    this.#runs = []
    for (const { length, reason, count } of runs) {
      for (let i = 0; i < count; i++) {
        yield { type: 'unreadable', frame: { seq, offset, length }, reason }
        seq++
        offset += length
      }
    }
  }
}
