import { isRunfoldError } from '#schema'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { explain } from './explain.ts'
import type { Session } from './session.ts'
import { oneLine } from './terminal-text.ts'

export interface Each<Item> {
  /** Rejects where the item could not be done; what it gives else is an exit code of no failure, such as `torn`. */
  readonly work: (item: Item) => Promise<ExitCode | undefined>
  /** What the item is called, in JSON under this key. */
  readonly key: 'file' | 'run_id' | 'token_id'
  readonly nameOf: (item: Item) => string
}

export interface Tried {
  readonly tried: number
  readonly done: number
  /** That of the first failure, else the last that `work` gave. */
  readonly code: ExitCode | undefined
}

/** One of several that fails is named and does not keep the others back, unless it shows that all of them would. */
export const tryEach = async <Item>(
  { signal, json, out, err }: Session,
  items: AsyncIterable<Item> | Iterable<Item>,
  { work, key, nameOf }: Each<Item>,
): Promise<Tried> => {
  let failure: ExitCode | undefined
  let given: ExitCode | undefined
  let [tried, done] = [0, 0]
  for await (const item of items) {
    tried++
    try {
      given = (await work(item)) ?? given
      done++
    } catch (error) {
      if (signal.aborted || isRunfoldError(error, 'unauthorized', 'unavailable', 'slow_down')) throw error
      const { text, code, problem } = explain(error)
      failure ??= code
      if (json) await out.json({ [key]: nameOf(item), error: problem })
      else await err.line(`${oneLine(nameOf(item))}: ${text}`)
    }
  }
  return { tried, done, code: failure ?? (given === EXIT.ok ? undefined : given) }
}
