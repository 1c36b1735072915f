import type { RunKey } from '../../schema/index.ts'
import { isRunfoldError } from '../../schema/index.ts'
import type { Clock, Head, RunIndex } from '../ports.ts'
import type { FrameItem } from '../reading/records.ts'
import { runName } from '../run-name.ts'

/** Between two looks at a run that somebody follows. */
const LOOK_MS = 500

/** One look at a run, shared by all who waited for it. */
export interface Look {
  /** Undefined while the index cannot be reached, which is no news: followers go on when it is back. */
  readonly head: Head | undefined
  readonly isGone: boolean
  /** Whether more than one has waited for it. */
  readonly isShared: boolean
  /**
   * The items from a position on, read once for all who ask for the same; whoever asks for others reads alone. They are
   * kept as long as the look is, so ask for few.
   */
  items(start: number, read: () => Promise<readonly FrameItem[]>): Promise<readonly FrameItem[]>
}

/** Looks at runs on behalf of everybody who waits for news of them. */
export interface Lookout {
  /** The next look. Whoever asks before it is made gets the same one: all followers of a run cost two reads a second. */
  next(run: RunKey): Promise<Look>
}

interface Awaited {
  readonly coming: Promise<Look>
  /** How many wait for it. */
  readonly by: number
}

/** Holds nothing but the looks that are awaited right now. */
export function createLookout(index: RunIndex, clock: Clock): Lookout {
  const awaited = new Map<string, Awaited>()

  const look = async (run: RunKey, name: string): Promise<Look> => {
    await clock.sleep(LOOK_MS)
    const isShared = (awaited.get(name)?.by ?? 1) > 1
    awaited.delete(name) // whoever comes from here on wants to know what happens after it came
    return lookAt(index, run, isShared)
  }

  return {
    next: (run) => {
      const name = runName(run)
      const { coming, by } = awaited.get(name) ?? { coming: look(run, name), by: 0 }
      awaited.set(name, { coming, by: by + 1 })
      return coming
    },
  }
}

async function lookAt(index: RunIndex, run: RunKey, isShared: boolean): Promise<Look> {
  let shared: { readonly start: number; readonly items: Promise<readonly FrameItem[]> } | undefined
  const items: Look['items'] = (start, read) => {
    shared ??= { start, items: read() }
    return shared.start === start ? shared.items : read()
  }
  try {
    const head = await index.head(run)
    return { head, isGone: !head?.alive, isShared, items }
  } catch (error) {
    if (!isRunfoldError(error, 'unavailable', 'slow_down')) throw error
    return { head: undefined, isGone: false, isShared, items }
  }
}
