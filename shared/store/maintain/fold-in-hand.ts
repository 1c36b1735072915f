import type { RunKey } from '../../schema/index.ts'
import { viewOf } from '../parts.ts'
import type { ComposePart, DerivedPlace, Head, StorePorts } from '../ports.ts'
import type { ArchiveView } from '../reading/view.ts'
import { type SnapshotPolicy, wantsSnapshots } from './snapshot-policy.ts'
import { storeSnapshots } from './snapshots.ts'

/**
 * Snapshots of what a merge has just read and stored, so that nothing is read again and one commit tells of both.
 *
 * @param head as it will be with the merge
 * @param parts of the merged object, which begins at `start` of the archive; given away
 * @returns for the head; undefined where the bytes did not come by, or snapshots end too far before them
 */
export async function foldInHand(
  ports: StorePorts,
  run: RunKey,
  head: Head,
  start: number,
  parts: readonly ComposePart[],
  policy: SnapshotPolicy,
): Promise<DerivedPlace | undefined> {
  const chunks = parts.flatMap((part) => ('bytes' in part ? [part.bytes] : []))
  const end = chunks.reduce((offset, { length }) => offset + length, start)
  const isInHand = chunks.length === parts.length && end - start >= policy.mergedBytes
  const isNext = (head.snapshot?.offset ?? 0) >= start
  if (!isInHand || !isNext || !wantsSnapshots(head, policy, false)) return undefined
  try {
    const view = heldView(viewOf(ports, run, head), start, chunks)
    return (await storeSnapshots(ports, view, end, policy))?.snapshot
  } catch {
    // No reason not to merge: snapshots are tried again when all is merged, and their failure is told there.
    return undefined
  }
}

/** A view of an archive of which a range is in memory. */
function heldView(view: ArchiveView, start: number, chunks: readonly Uint8Array[]): ArchiveView {
  async function* held(from: number, end: number): AsyncGenerator<Uint8Array> {
    let origin = start
    for (const chunk of chunks) {
      const cut = chunk.subarray(Math.max(0, from - origin), Math.max(0, end - origin))
      if (cut.length > 0) yield cut
      origin += chunk.length
    }
  }
  return { ...view, bytes: (from, end) => (from >= start ? held(from, end) : view.bytes(from, end)) }
}
