import type { RunKey } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { objectKey } from '../keys.ts'
import type { ByteRange, Extent, Head, Objects } from '../ports.ts'
import { type ExtentSource, extentBytes, inOrder } from './extents.ts'
import type { WarmStates } from './warm.ts'

/** One read of a run: the head it began with, and the archive's bytes up to that head's tail. */
export interface ArchiveView {
  readonly run: RunKey
  readonly head: Head
  /**
   * Archive bytes start..end in order, fetched as they are consumed. Throws `internal` with `offset` and `length` of a
   * range that is not there (P7), `not_found` when the run was removed meanwhile.
   */
  bytes(start: number, end: number): AsyncIterable<Uint8Array>
  /** A derived object, or a range of one; undefined where it is gone or shorter: whoever asks can do without. */
  derived(key: string, range?: ByteRange): Promise<Uint8Array | undefined>
  /** What this process still knows of runs. */
  readonly warm?: WarmStates
}

/** `refresh` reads the head strongly again; it is asked only when a named object has vanished. */
export function openView(
  objects: Objects,
  run: RunKey,
  head: Head,
  refresh: () => Promise<Head | undefined>,
): ArchiveView {
  const sourceOf = ({ extents }: Head): ExtentSource => ({
    extents,
    keyOf: (start, extent) => objectKey(run, start, extent),
  })
  const sameLife = async () => {
    const fresh = await refresh()
    if (fresh?.alive && fresh.life === head.life) return sourceOf(fresh)
    throw new RunfoldError('not_found', `the run ${run.run_id} was removed while it was read`)
  }
  return {
    run,
    head,
    bytes: (start, end) => extentBytes(objects, sourceOf(head), sameLife, start, end),
    derived: async (key, range) => {
      try {
        return await objects.get(key, range)
      } catch (error) {
        if (isRunfoldError(error, 'internal')) return undefined
        throw error
      }
    },
  }
}

/** The head's extents by the archive position at which each begins. */
export function extentsInOrder(head: Head): [start: number, extent: Extent][] {
  return inOrder(head.extents)
}
