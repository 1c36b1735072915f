import { EMPTY_DIGEST } from '../../codec/index.ts'
import { EMPTY_CARD } from '../../fold/index.ts'
import type { Transfer } from '../../schema/index.ts'
import { ticksOf } from '../card-row.ts'
import { TERMINAL } from '../commit.ts'
import { NOTHING } from '../head.ts'
import { extentName } from '../keys.ts'
import type { Manifest } from '../maintain/manifest.ts'
import type { Extents, Head } from '../ports.ts'
import type { Chain } from './chain.ts'
import type { Evidence, Found } from './evidence.ts'
import type { Measured } from './measure.ts'

/** Far above every epoch that a writer may still hold, whether an object tells of it or not. */
const EPOCH_LEAP = 2 ** 20

/** What is known before anything was read; the digest is that of no bytes or to be continued from the base's state. */
export function measureOf(base: Manifest | undefined, state: string): Measured {
  const { tail = 0, digest = EMPTY_DIGEST, frames = 0, points = 0, unreadable = 0 } = base?.head ?? {}
  const card = base?.card ?? EMPTY_CARD
  return { offset: tail, hashed: { digest, state }, frames, points, unreadable, card }
}

/**
 * The head of a living run: nobody holds it, and no epoch or generation from before can commit to it. Where it may end before
 * bytes that were acknowledged others will come in their place, so it is another life: tags, cursors and snapshots of the one
 * before do not count in it. Where it goes on behind the end of a life that was begun so, it is yet another one.
 */
export function rebuiltHead(evidence: Evidence, chain: Chain, held_until: number, now: number): Head {
  const { sweep, base, objects } = evidence
  const { end, links } = chain
  const epoch = evidence.epoch + EPOCH_LEAP
  const owners = ownersOf(evidence)
  const isNew = isAnotherLife(evidence, chain)
  return {
    ...NOTHING,
    ...base?.head,
    ...(isNew ? { life: epoch, snapshot: null } : { life: evidence.life }),
    alive: true,
    epoch,
    sweep: sweep + 1,
    lease: null,
    holder: owners[0] ?? null,
    previous: owners[1] ? { machine_id: owners[1].machine_id, world_id: owners[1].world_id } : null,
    tail: end.offset,
    frames: end.frames,
    points: end.points,
    unreadable: end.unreadable,
    digest: end.hashed.digest,
    hash_state: end.hashed.state,
    headed: end.card.headed,
    ticks: ticksOf(end.card),
    card_tail: end.offset,
    ended: TERMINAL.has(end.card.status),
    extents: { ...base?.head.extents, ...extentsOf(links) },
    due_at: now,
    sweep_at: held_until,
    claim_at: TERMINAL.has(end.card.status) ? null : now,
    created_at: base?.head.created_at ?? firstKnown(objects, now),
    changed_at: Math.max(base?.head.changed_at ?? 0, ...links.slice(-1).map(({ stored_at }) => stored_at)),
  }
}

/** Whether more may have been acknowledged than the chain has. */
export const isCut = ({ undecided, lost }: Chain) => undecided.length > 0 || lost !== undefined

/** Whether the run is given back as another life than the one it was gathered from. */
export const isAnotherLife = ({ isFormer }: Evidence, chain: Chain) => isFormer || isCut(chain)

/** The head of a run whose newest life was ended; times in ms. */
export function rebuiltTombstone({ life, epoch, sweep }: Evidence, held_until: number, now: number): Head {
  return {
    ...NOTHING,
    life,
    alive: false,
    epoch: epoch + EPOCH_LEAP,
    sweep: sweep + 1,
    extents: {},
    due_at: held_until,
    sweep_at: held_until,
    created_at: now,
    changed_at: now,
  }
}

function extentsOf(links: readonly Found[]): Extents {
  const named = links.map(({ start, length, hash, sweep, stored_at }) => {
    return [extentName(start), { length, hash, sweep, at: stored_at }] as const
  })
  return Object.fromEntries(named)
}

/** Of a run that began before manifests were written. */
function firstKnown(objects: readonly Found[], now: number): number {
  const first = objects[0]
  return first?.created_at ?? first?.stored_at ?? now
}

/** Everyone who is known to have held this life, newest first. */
export function ownersOf({ base, objects }: Evidence): readonly Transfer[] {
  const told = objects.flatMap(({ holder }) => holder ?? [])
  const known = [...(base?.head.holder ? [base.head.holder] : []), ...(base?.transfers ?? [])]
  const byEpoch = new Map([...told, ...known].map((transfer) => [transfer.epoch, transfer]))
  return [...byEpoch.values()].sort((a, b) => b.epoch - a.epoch)
}
