import type { ProblemCode, RunKey } from '#schema'
import type { Archive, Head, HeadChange, RunIndex, StorePorts, Visit } from '#store'
import type { Tally } from './measures.ts'

// Where things are counted: at the doors that all of them pass, so that what keeps runs knows nothing of it.

/**
 * Ports that count what goes through them.
 *
 * @param due told when an append has made a run due at once
 */
export function observedPorts<P extends StorePorts>(ports: P, tally: Tally, due?: (run: RunKey) => void): P {
  const { index } = ports
  const seen = (head: Head | undefined) => {
    if (head?.alive) tally('ExtentsPerRun', Object.keys(head.extents).length)
    return head
  }
  const observed: Pick<RunIndex, 'head' | 'commit'> = {
    head: async (run) => seen(await index.head(run)),
    commit: async (run, ...asked) => {
      const isMade = await index.commit(run, ...asked)
      const [, change] = asked
      if (isMade && isMerge(change)) tally('Merges', 1)
      if (isMade && isAppend(change)) {
        tally('Appends', 1)
        tally('AppendedBytes', bytesOf(change))
        const { due_at, changed_at } = change.set
        if (due_at != null && changed_at !== undefined && due_at <= changed_at) due?.(run)
      }
      return isMade
    },
  }
  return { ...ports, index: overlaid(index, observed) }
}

/** The other methods are those of `index` itself: one that keeps private fields takes no other for it. */
function overlaid(index: RunIndex, observed: Partial<RunIndex>): RunIndex {
  return new Proxy(index, {
    get: (_, name) => {
      const found: unknown = Reflect.get(observed, name) ?? Reflect.get(index, name)
      return typeof found === 'function' ? found.bind(index) : found
    },
  })
}

const isMerge = ({ drop }: HeadChange) => drop !== undefined && drop.length > 0
const isAppend = (change: HeadChange) =>
  change.add !== undefined && !isMerge(change) && change.set.tail !== undefined
const bytesOf = ({ add = {} }: HeadChange) => Object.values(add).reduce((sum, { length }) => sum + length, 0)

/** For `createArchive`. */
export const tallyFold = (tally: Tally) => (isWarm: boolean) => tally(isWarm ? 'FoldHits' : 'FoldMisses', 1)

/** An archive that counts what was sent twice. */
export function observedArchive(archive: Archive, tally: Tally): Archive {
  const counted = <A extends { readonly replayed: boolean }>(answer: A) => {
    if (answer.replayed) tally('Replays', 1)
    return answer
  }
  return {
    ...archive,
    append: async (...asked) => counted(await archive.append(...asked)),
    completeUpload: async (...asked) => counted(await archive.completeUpload(...asked)),
  }
}

const COUNTED: Partial<Record<ProblemCode, 'Conflicts' | 'Fenced' | 'SlowDown'>> = {
  offset_conflict: 'Conflicts',
  overlap: 'Conflicts',
  gap: 'Conflicts',
  fenced: 'Fenced',
  slow_down: 'SlowDown',
}

/** @param code of the problem that a request was answered with */
export function tallyProblem(code: string | undefined, tally: Tally): void {
  const name = COUNTED[code as ProblemCode]
  if (name) tally(name, 1)
}

export function tallyVisit({ waited_ms, merges, removed_bytes }: Visit, tally: Tally): void {
  if (waited_ms !== undefined) tally('DueListAge', waited_ms / 1000)
  if (waited_ms !== undefined && merges > 0) tally('MergeLag', waited_ms / 1000)
  if (removed_bytes > 0) tally('OrphanBytes', removed_bytes)
}
