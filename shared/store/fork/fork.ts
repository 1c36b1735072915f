import { loadDigest } from '../../codec/index.ts'
import { EMPTY_CARD } from '../../fold/index.ts'
import type { ForkRequest, LeaseAnswer, RunKey } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { acquire, create } from '../acquire.ts'
import { cardRow, ticksOf } from '../card-row.ts'
import { claimableAfterAppend } from '../claim/claimable.ts'
import { TERMINAL } from '../commit.ts'
import { doubtfulCommit } from '../doubt.ts'
import { applyChange, living } from '../head.ts'
import { extentName } from '../keys.ts'
import { damageAmong } from '../maintain/damage.ts'
import { dueAfterAppend } from '../maintain/due.ts'
import { announce } from '../maintain/manifest.ts'
import { MAX_ATTEMPTS, type StoreParts, viewOf } from '../parts.ts'
import type { Expectation, Extent, Head, Origin } from '../ports.ts'
import type { ArchiveView } from '../reading/view.ts'
import { digestUpTo } from '../replay.ts'
import { copyPrefix, extentsUpTo } from './copy-prefix.ts'
import { type Prefix, prefixOf } from './prefix.ts'

// DESIGN.md, "Fork": the new head first, so that maintenance knows of the run whatever happens; then its first bytes, in an
// object of its own; then one commit that names it. Runs share nothing, so neither can take anything from the other.

/**
 * A new run that begins with the first frames of another and belongs to who asks. The same request by the same owner is
 * answered again, and goes on where it was cut off.
 *
 * @throws not_found, range_not_satisfiable; exists where the name is taken by any other run
 */
export async function fork(parts: StoreParts, source: RunKey, request: ForkRequest): Promise<LeaseAnswer> {
  const { ports } = parts
  const target = { tenant: source.tenant, run_id: request.run_id }
  await loadDigest()
  const view = viewOf(ports, source, living(await ports.index.head(source)))
  const origin = { run_id: source.run_id, life: view.head.life, seq: request.seq }
  const isSame = (head: Head) => isForkOf(head, origin, request)
  const found = await ports.index.head(target)
  if (found?.alive && !isSame(found)) throw exists(target)
  const prefix = await prefixOf(ports, view, request.seq)

  await begin(parts, target, request, origin, isSame)
  await fill(parts, target, view, prefix, isSame)
  const { machine_id, world_id } = request
  return (await acquire(parts, target, { machine_id, world_id })).answer
}

/** Made by this very request, and in the hands of who made it ever since. */
function isForkOf({ origin, life, epoch, lease }: Head, wanted: Origin, owner: ForkRequest): boolean {
  const isFromThere =
    origin?.run_id === wanted.run_id && origin.life === wanted.life && origin.seq === wanted.seq
  const isHeldByOwner = lease?.machine_id === owner.machine_id && lease.world_id === owner.world_id
  return isFromThere && epoch === life && isHeldByOwner
}

function exists({ run_id }: RunKey): RunfoldError {
  return new RunfoldError('exists', `there is a run ${run_id} already`)
}

async function begin(
  { ports, clock }: StoreParts,
  target: RunKey,
  { machine_id, world_id }: ForkRequest,
  origin: Origin,
  isSame: (head: Head) => boolean,
): Promise<void> {
  const commit = doubtfulCommit(ports.index)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await ports.index.head(target)
    if (found?.alive) {
      if (isSame(found)) return
      throw exists(target)
    }
    const { expect, change: created } = create(found, { machine_id, world_id }, clock.now())
    const change = { ...created, set: { ...created.set, origin } }
    const head = applyChange(found, change)
    await announce(ports.objects, target, head)
    const card = cardRow(target, head, EMPTY_CARD)
    if (await commit(target, expect, change, card)) return
  }
  throw tooMany()
}

/** Copies the prefix into the new run, unless that was done before. */
async function fill(
  parts: StoreParts,
  target: RunKey,
  began: ArchiveView,
  prefix: Prefix,
  isSame: (head: Head) => boolean,
): Promise<void> {
  const { ports, clock } = parts
  const commit = doubtfulCommit(ports.index)
  let source = began
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const head = living(await ports.index.head(target))
    if (!isSame(head)) throw exists(target)
    if (head.tail >= prefix.tail) {
      if (await beginsWith(viewOf(ports, target, head), prefix)) return
      throw exists(target)
    }
    try {
      const extent = await copyPrefix(ports.objects, source, { run: target, head }, prefix.tail)
      const { expect, change, card } = decide(target, head, prefix, extent, clock.now())
      if (await commit(target, expect, change, card)) return
    } catch (error) {
      if (!isRunfoldError(error, 'not_found')) throw error
      const present = await again(parts, began)
      await checkLost(parts, source, present, prefix.tail, error)
      source = present
    }
  }
  throw tooMany()
}

/** The owner may have begun something else, or gone on, before it asked again. */
async function beginsWith(view: ArchiveView, { tail, digest }: Prefix): Promise<boolean> {
  if (view.head.tail === tail) return view.head.digest === digest
  return (await digestUpTo(view, tail, [])).digest === digest
}

/** Merged away and swept meanwhile: the bytes are elsewhere now, if the run has not gone. */
async function again({ ports }: StoreParts, { run, head }: ArchiveView): Promise<ArchiveView> {
  const now = living(await ports.index.head(run))
  if (now.life === head.life) return viewOf(ports, run, now)
  throw new RunfoldError('not_found', `the run ${run.run_id} was removed while it was forked`)
}

/** What is still named and not there is lost, and no other attempt will find it (P7). */
async function checkLost(
  { ports: { objects } }: StoreParts,
  before: ArchiveView,
  present: ArchiveView,
  tail: number,
  failure: unknown,
): Promise<void> {
  const sources = extentsUpTo(present, tail)
  const tried = new Set(extentsUpTo(before, tail).map(({ key }) => key))
  if (!sources.every(({ key }) => tried.has(key))) return
  const damage = await damageAmong(objects, sources, failure)
  if (damage !== failure) throw damage
}

function decide(run: RunKey, head: Head, prefix: Prefix, copied: Omit<Extent, 'at'>, now: number) {
  const { card, ...counts } = prefix
  const { life, epoch, sweep } = head
  const set = {
    ...counts,
    headed: card.headed,
    ticks: ticksOf(card),
    ended: TERMINAL.has(card.status),
    card_tail: prefix.tail,
    changed_at: now,
  }
  const add = { [extentName(0)]: { ...copied, at: now } }
  const after = applyChange(head, { set, add })
  const expect: Expectation = { alive: true, life, epoch, sweep, tail: 0, held: true }
  const times = { due_at: dueAfterAppend(after, now), claim_at: claimableAfterAppend(after) }
  const change = { set: { ...set, ...times }, add }
  return { expect, change, card: cardRow(run, after, card) }
}

const tooMany = () => new RunfoldError('slow_down', 'too many ask for this run at once', { retry_after_s: 1 })
