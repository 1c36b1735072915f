import type { RunCard } from '../fold/index.ts'
import { EMPTY_CARD } from '../fold/index.ts'
import { cardAfter, Tally } from './batch.ts'
import { currentCard } from './card-row.ts'
import type { Head, StorePorts } from './ports.ts'
import { BEGINNING, framesFrom } from './reading/frames.ts'
import { pastTheEnd } from './reading/state-at.ts'
import type { ArchiveView } from './reading/view.ts'
import { digestUpTo } from './replay.ts'

/** The first frames of an archive, as a head would tell of them. */
export interface Prefix
  extends Pick<Head, 'tail' | 'frames' | 'points' | 'unreadable' | 'digest' | 'hash_state'> {
  readonly card: RunCard
}

/**
 * What there is to say of the first `seq` frames. Of all of them the head knows it; of fewer they are read. Needs the
 * digest loaded.
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
  const tally = new Tally()
  let card = EMPTY_CARD
  let tail = BEGINNING.offset
  for await (const { offset, length, payload } of framesFrom(view, BEGINNING)) {
    if (tally.frames === seq) break
    const told = tally.add(payload)
    if (told) card = cardAfter(card, [told])
    tail = offset + length
  }
  const { frames, unreadable } = tally
  const points = card.headed ? tally.points : 0 // LVR1.md 4.5
  const { digest, state } = await digestUpTo(view, tail, [])
  return { tail, frames, points, unreadable, digest, hash_state: state, card }
}
