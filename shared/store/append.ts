import { digestOf, extendDigest, loadDigest } from '../codec/index.ts'
import { EMPTY_CARD } from '../fold/index.ts'
import type { AppendAnswer, RunKey, RunStatus } from '../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../schema/index.ts'
import { type Batch, cardAfter, readBatch } from './batch.ts'
import { cardRow, currentCard, isSlowChange, ticksOf } from './card-row.ts'
import { dueAfterAppend } from './due.ts'
import { applyChange, fenced, living, position } from './head.ts'
import { extentName, HASH_DIGITS, objectKey } from './keys.ts'
import { MAX_ATTEMPTS, type StoreParts, viewOf } from './parts.ts'
import type { CardRow, Expectation, Extent, Head, HeadChange } from './ports.ts'
import { appendAnswer, digestUpTo, replay } from './replay.ts'

/** At so many extents merging has fallen behind, and appends wait for it. */
export const MAX_EXTENTS = 512

/** Commits of unknown outcome after which the client is asked to come again. */
const MAX_UNKNOWN = 3

const TERMINAL: ReadonlySet<RunStatus | null> = new Set<RunStatus | null>(['complete', 'error', 'cancelled'])

export interface AppendRequest {
  readonly offset: number
  readonly epoch: number
  /** Whole frames, decoded; with the preamble first at offset 0. */
  readonly bytes: Uint8Array
}

/** DESIGN.md, "Append": check, look, store, commit; on any doubt look again and judge anew. */
export async function append(parts: StoreParts, run: RunKey, request: AppendRequest): Promise<AppendAnswer> {
  const { ports, clock, limits } = parts
  if (request.bytes.length > limits.max_batch_bytes) {
    throw new RunfoldError('too_large', `a batch of ${request.bytes.length} bytes`, { ...limits })
  }
  await loadDigest()
  const batch = readBatch(request.bytes, request.offset)
  const hash = digestOf(batch.bytes).slice(0, HASH_DIGITS)

  let life: number | undefined
  let storedUnder: number | undefined
  let unknown = 0
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const head = living(await ports.index.head(run))
    life ??= head.life
    judgeWriter(head, life, request.epoch)
    if (batch.offset < head.tail) return replay(parts, run, head, batch)
    judgeRoom(head, batch)

    if (storedUnder !== head.sweep) {
      const key = objectKey(run, batch.offset, { length: batch.bytes.length, hash, sweep: head.sweep })
      await ports.objects.put(key, [batch.bytes], factsOf(head, batch))
      storedUnder = head.sweep
    }
    const { expect, change, card } = await decideAppend(parts, run, head, batch, hash)
    try {
      if (!(await ports.index.commit(run, expect, change, card))) continue
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable') || ++unknown > MAX_UNKNOWN) throw error
      continue
    }
    const after = applyChange(head, change)
    return appendAnswer(run, after, batch, { ...after, tail: batch.end }, false, clock.now())
  }
  throw new RunfoldError('slow_down', 'too many write to this run at once', { retry_after_s: 1 })
}

/** The order matters: who may not write is told so whatever the bytes are (P5). */
function judgeWriter(head: Head, life: number, epoch: number): void {
  if (head.life !== life) throw new RunfoldError('not_found', 'the run was deleted')
  if (head.epoch !== epoch || !head.lease) throw fenced(head, epoch)
}

function judgeRoom(head: Head, batch: Batch): void {
  if (batch.offset > head.tail) {
    throw new RunfoldError('gap', `the archive ends at ${head.tail}, before ${batch.offset}`, position(head))
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

async function decideAppend(
  parts: StoreParts,
  run: RunKey,
  head: Head,
  batch: Batch,
  hash: string,
): Promise<Decision> {
  const now = parts.clock.now()
  const lease = head.lease as NonNullable<Head['lease']>
  const before =
    batch.telling.length > 0 && head.headed !== false ? await currentCard(parts.ports, run, head) : undefined
  const card = cardAfter(before ?? EMPTY_CARD, batch.telling)
  const { digest, state } = await digestAfter(parts, run, head, batch)
  const extent: Extent = { length: batch.bytes.length, hash, sweep: head.sweep, at: now }
  const grown = {
    tail: batch.end,
    frames: head.frames + batch.frames,
    points: head.points + batch.points,
    unreadable: head.unreadable + batch.unreadable,
    digest,
    hash_state: state,
    lease: { ...lease, expires_at: Math.max(lease.expires_at, now + lease.ttl_s * 1000) },
    changed_at: now,
  }
  const told = before && { headed: card.headed, ticks: ticksOf(card), ended: TERMINAL.has(card.status) }
  const isShown = before !== undefined && isSlowChange(run, before, card)
  const moved = isShown ? { card_tail: batch.end } : {}
  const add = { [extentName(batch.offset)]: extent }
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
    change: { set: { ...grown, ...told, ...moved, due_at: dueAfterAppend(after, now) }, add },
    ...(isShown && { card: cardRow(run, after, card) }),
  }
}

/** Continued from the saved state; one of another version of this program is made anew from the archive. */
async function digestAfter(parts: StoreParts, run: RunKey, head: Head, batch: Batch) {
  const saved = head.hash_state === '' ? null : head.hash_state
  return (
    extendDigest(saved, [batch.bytes]) ??
    (await digestUpTo(viewOf(parts.ports, run, head), head.tail, [batch.bytes]))
  )
}

/** Enough to tell, from the objects alone, which of them follow each other (DESIGN.md, Rebuild). */
function factsOf(head: Head, batch: Batch) {
  const { life, epoch, digest } = head
  return { life: String(life), epoch: String(epoch), offset: String(batch.offset), 'digest-before': digest }
}
