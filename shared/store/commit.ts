import type { RunCard } from '../fold/index.ts'
import type { AppendAnswer, RunKey, RunStatus } from '../schema/index.ts'
import { RunfoldError } from '../schema/index.ts'
import { cardRow, isSlowChange, ticksOf } from './card-row.ts'
import { claimableAfterAppend } from './claim/claimable.ts'
import { doubtfulCommit } from './doubt.ts'
import { applyChange, fenced, living, position } from './head.ts'
import { extentName } from './keys.ts'
import { dueAfterAppend } from './maintain/due.ts'
import { MAX_ATTEMPTS, type StoreParts } from './parts.ts'
import type { CardRow, Expectation, Extent, Head, HeadChange, ObjectFacts } from './ports.ts'
import type { ArchiveView } from './reading/view.ts'
import { appendAnswer, replay } from './replay.ts'

// DESIGN.md, "Append" 2 to 4, for bytes that came with the request (append.ts) and for those that went straight to the
// storage (uploads.ts): look, store, commit; on any doubt look again and judge anew.

/** At so many extents merging has fallen behind, and appends wait for it. */
export const MAX_EXTENTS = 512

/** Statuses after which a run waits for nobody. */
export const TERMINAL: ReadonlySet<RunStatus | null> = new Set<RunStatus | null>([
  'complete',
  'error',
  'cancelled',
])

/** Whole frames to be appended, wherever their bytes are. */
export interface Addition {
  /** Archive positions, the end exclusive. */
  readonly offset: number
  readonly end: number
  /** What names its object beside range and generation (keys.ts). */
  readonly hash: string
  /** Makes its object stand under the generation of this head; asked again when that has moved. */
  store(head: Head): Promise<void>
  /** What the run gains by it; asked only where the archive ends at `offset`. */
  gain(head: Head): Promise<Gain>
  /** Whether the archive, which ends behind `offset`, holds its bytes as far as both go, and no frame is cut there. */
  isStored(view: ArchiveView): Promise<boolean>
}

/** What the head grows by with an addition. */
export interface Gain {
  readonly frames: number
  readonly points: number
  readonly unreadable: number
  /** Of the archive with the addition, and its saved state. */
  readonly digest: string
  readonly hash_state: string
  /** Where a record may have changed it. */
  readonly card?: { readonly before: RunCard; readonly after: RunCard }
}

/** Who appends. */
export interface Writer {
  readonly epoch: number
  /** The life that is written to; undefined for the one that is found. */
  readonly life?: number
}

/** Appends under the writer's epoch, or finds that it was appended before (P3, P5). */
export async function commitAddition(
  parts: StoreParts,
  run: RunKey,
  writer: Writer,
  addition: Addition,
): Promise<AppendAnswer> {
  const { ports, clock, heads } = parts
  let warm = heads?.take(run, writer, addition.offset, clock.now())
  let { life } = writer
  let storedUnder: number | undefined
  const commit = doubtfulCommit(ports.index)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const head = warm ?? living(await ports.index.head(run))
    // A guess settles nothing: which life is written to is told by a head that was read.
    if (!warm) life ??= head.life
    warm = undefined
    judgeWriter(head, life ?? head.life, writer.epoch)
    if (addition.offset < head.tail) return replay(parts, run, head, addition)
    judgeRoom(head, addition.offset)

    const gain = await addition.gain(head)
    if (storedUnder !== head.sweep) {
      await addition.store(head)
      storedUnder = head.sweep
    }
    const { expect, change, card } = decide(run, head, addition, gain, clock.now())
    if (!(await commit(run, expect, change, card))) continue
    const after = applyChange(head, change)
    heads?.keep(run, after)
    return appendAnswer(run, after, addition.offset, { ...after, tail: addition.end }, false, clock.now())
  }
  throw new RunfoldError('slow_down', 'too many write to this run at once', { retry_after_s: 1 })
}

/** The order matters: who may not write is told so whatever the bytes are (P5). */
export function judgeWriter(head: Head, life: number, epoch: number): void {
  if (head.life !== life) throw new RunfoldError('not_found', 'the run was deleted')
  if (head.epoch !== epoch || !head.lease) throw fenced(head, epoch)
}

/** Throws `gap` where the archive ends before the offset, `slow_down` where it has too many extents. */
export function judgeRoom(head: Head, offset: number): void {
  if (offset > head.tail) {
    throw new RunfoldError('gap', `the archive ends at ${head.tail}, before ${offset}`, position(head))
  }
  if (Object.keys(head.extents).length >= MAX_EXTENTS) {
    throw new RunfoldError('slow_down', 'merging has fallen behind', { retry_after_s: 1 })
  }
}

interface Decision {
  readonly expect: Expectation
  readonly change: HeadChange
  readonly card?: CardRow
}

function decide(run: RunKey, head: Head, addition: Addition, gain: Gain, now: number): Decision {
  const { offset, end, hash } = addition
  const { card } = gain
  // Without a Header as the first readable record there are no points (LVR1.md 4.5).
  const isHeaded = card ? card.after.headed : head.headed
  const lease = head.lease as NonNullable<Head['lease']>
  const extent: Extent = { length: end - offset, hash, sweep: head.sweep, at: now }
  const grown = {
    tail: end,
    frames: head.frames + gain.frames,
    points: head.points + (isHeaded ? gain.points : 0),
    unreadable: head.unreadable + gain.unreadable,
    digest: gain.digest,
    hash_state: gain.hash_state,
    lease: { ...lease, expires_at: Math.max(lease.expires_at, now + lease.ttl_s * 1000) },
    changed_at: now,
  }
  const told = card && {
    headed: card.after.headed,
    ticks: ticksOf(card.after),
    ended: TERMINAL.has(card.after.status),
  }
  const isShown = card !== undefined && isSlowChange(run, card.before, card.after)
  const moved = isShown ? { card_tail: end } : {}
  const add = { [extentName(offset)]: extent }
  const after = applyChange(head, { set: { ...grown, ...told, ...moved }, add })
  return {
    expect: {
      alive: true,
      life: head.life,
      epoch: head.epoch,
      tail: head.tail,
      sweep: head.sweep,
      held: true,
      lease_expires_at: lease.expires_at, // a renewal in between must not be taken back
    },
    change: { set: { ...grown, ...told, ...moved, ...timesOf(head, after, now) }, add },
    ...(isShown && { card: cardRow(run, after, card.after) }),
  }
}

/** When maintenance and claimants have to look at it; what stays as it is is left to those who may be changing it now. */
function timesOf(head: Head, after: Head, now: number): Partial<Pick<Head, 'due_at' | 'claim_at'>> {
  const due_at = dueAfterAppend(after, now)
  const claim_at = claimableAfterAppend(after)
  return { ...(due_at !== head.due_at && { due_at }), ...(claim_at !== head.claim_at && { claim_at }) }
}

/** Enough to tell, from the objects alone, which of them follow each other (DESIGN.md, Rebuild). */
export function factsOf(head: Head, offset: number) {
  return { ...writerFacts(head, offset), 'digest-before': head.digest }
}

/** Of an object whose place in the archive is not reached yet. */
export function writerFacts({ life, epoch, created_at, holder }: Head, offset: number): ObjectFacts {
  const facts = {
    life: String(life),
    epoch: String(epoch),
    offset: String(offset),
    created: String(created_at),
  }
  if (!holder) return facts
  const { reason, from, machine_id, world_id } = holder
  return { ...facts, holder: `${reason} ${from} ${machine_id} ${world_id}` }
}
