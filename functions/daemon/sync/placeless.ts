import { posix } from 'node:path'
import { counted } from '../../counted.ts'

/** Such as `a.jsonl.reset.1`: what a harness may have made of a transcript. What it keeps beside them is none of a session. */
const HISTORY = /\.jsonl(?:$|\.)|^rollout-.*\.json$/i
/** Files that come and go while a harness works. */
const PASSING = /\.(?:lock|tmp)$/i

/**
 * Histories that no session has a place for, by their names alone: they are not read. Those of one folder are told of together,
 * since a harness that renames its files renames many.
 */
export class Placeless {
  readonly #byFolder = new Map<string, string[]>()

  /** @param path of any file below a home that is no file of a session */
  meet(path: string): void {
    const name = posix.basename(path)
    if (!HISTORY.test(name) || PASSING.test(name)) return
    const folder = posix.dirname(path)
    const met = this.#byFolder.get(folder)
    if (met) met.push(path)
    else this.#byFolder.set(folder, [path])
  }

  tell(leftOut: (path: string, reason: string) => void): void {
    for (const [first, ...others] of this.#byFolder.values()) {
      if (first === undefined) continue
      const more = others.length > 0 ? `, nor for ${counted(others.length, 'other')} in its folder` : ''
      leftOut(first, `no session has a place for it${more}`)
    }
  }
}
