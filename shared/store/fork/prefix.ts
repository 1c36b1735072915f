import type { RunCard } from '../../fold/index.ts'
import { cardOfState } from '../../fold/index.ts'
import { cardAfter, Tally } from '../batch.ts'
import { currentCard } from '../card-row.ts'
import type { Head, StorePorts } from '../ports.ts'
import { framesFrom } from '../reading/frames.ts'
import type { Snapshot } from '../reading/snapshot.ts'
import { entryBefore, snapshotsOf } from '../reading/snapshots.ts'
import { pastTheEnd } from '../reading/state-at.ts'
import type { ArchiveView } from '../reading/view.ts'
import { extended, knownBefore } from '../replay.ts'

/** The first frames of an archive, as a head would tell of them. */
export interface Prefix
  extends Pick<Head, 'tail' | 'frames' | 'points' | 'unreadable' | 'digest' | 'hash_state'> {
  readonly card: RunCard
}

/**
 * What there is to say of the first `seq` frames. Of all of them the head knows it; of fewer, what follows the nearest
 * snapshot is read. Needs the digest loaded.
 *
 * @throws range_not_satisfiable where there are fewer
 */
export async function prefixOf(ports: StorePorts, view: ArchiveView, seq: number): Promise<Prefix> {
  const { run, head } = view
  if (seq > head.frames) throw pastTheEnd(head.tail, `${head.frames} frames`)
  if (seq === head.frames) {
    const { tail, frames, points, unreadable, digest, hash_state } = head
    return { tail, frames, points, unreadable, digest, hash_state, card: await currentCard(ports, run, head) }
  }
  const known = await knownBefore(view, entryBefore(await snapshotsOf(view), seq))
  const tally = new Tally()
  let card = cardOfState(known.folding)
  let tail = known.offset
  for await (const { offset, length, payload } of framesFrom(view, known)) {
    if (known.seq + tally.frames === seq) break
    const told = tally.add(payload)
    if (told) card = cardAfter(card, [told])
    tail = offset + length
  }
  return {
    tail,
    frames: seq,
    points: known.points + (card.headed ? tally.points : 0), // LVR1.md 4.5
    unreadable: known.unreadable + tally.unreadable,
    ...(await digestFrom(view, known, tail)),
    card,
  }
}

async function digestFrom(view: ArchiveView, { offset, hash_state }: Snapshot, tail: number) {
  let saved = extended(hash_state, [])
  for await (const chunk of view.bytes(offset, tail)) saved = extended(saved.state, [chunk])
  return { digest: saved.digest, hash_state: saved.state }
}
