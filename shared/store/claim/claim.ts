import type { ClaimRequest, LeaseAnswer, RunKey, Worker } from '../../schema/index.ts'
import { isRunfoldError } from '../../schema/index.ts'
import { grant, takeOver } from '../acquire.ts'
import { isLive } from '../head.ts'
import { release } from '../lease.ts'
import type { StoreParts } from '../parts.ts'
import type { Head, WaitingRun } from '../ports.ts'
import type { Look, Looks } from './looks.ts'

// API.md, "Claims". Candidates come from the index, which may lag; the head is asked about each, and the conditional commit
// of its lease lets one claimant have it. Whoever loses goes on to the next.

/** Rows of the first reading of a look; each further one, where none of them would do, is so many times as long. */
const FIRST_ROWS = 64
const MORE_ROWS = 8
/** Heads read at a time. */
const HEADS = 16
/**
 * Who has given a run back, or lost it, is not handed it again for so long: others shall have their turn first, and one
 * that cannot carry it on shall not be handed nothing else for ever.
 */
const TURN_OF_OTHERS_MS = 5000

/** What bounds a claim beside its request. */
export interface ClaimBounds {
  /** What a token may have of its tenant. */
  readonly run_prefix?: string | null
  readonly signal?: AbortSignal
}

/** The lease of a run that waits, the one that has waited longest; undefined when there is none within `wait_s`. */
export async function claim(
  parts: StoreParts,
  looks: Looks,
  tenant: string,
  request: ClaimRequest,
  { run_prefix = null, signal }: ClaimBounds,
): Promise<LeaseAnswer | undefined> {
  const deadline = parts.clock.now() + (request.wait_s ?? 0) * 1000
  for (let look = looks.now(tenant); ; look = await looks.next(tenant)) {
    const answer = signal?.aborted ? undefined : await claimFrom(parts, look, request, run_prefix)
    if (!answer && parts.clock.now() < deadline && !signal?.aborted) continue
    if (answer && signal?.aborted) await giveBack(parts, tenant, answer)
    return answer
  }
}

async function claimFrom(parts: StoreParts, look: Look, request: ClaimRequest, prefix: string | null) {
  const able = new Set(request.capabilities)
  const isWanted = ({ run, requires }: WaitingRun) =>
    (prefix === null || run.run_id.startsWith(prefix)) && (requires ?? []).every((need) => able.has(need))
  const seen = new Set<string>()
  for (let limit = FIRST_ROWS; ; limit *= MORE_ROWS) {
    const rows = await look.first(limit)
    const fresh = rows.filter((row) => isWanted(row) && !seen.has(row.run.run_id)).map(({ run }) => run)
    for (let at = 0; at < fresh.length; at += HEADS) {
      const answer = await claimOne(parts, look, fresh.slice(at, at + HEADS), request, able)
      if (answer) return answer
    }
    if (rows.length < limit || limit >= look.most) return undefined
    for (const { run } of rows) seen.add(run.run_id)
  }
}

/** The first of a few runs that is free and not lost to another. */
async function claimOne(
  parts: StoreParts,
  look: Look,
  runs: readonly RunKey[],
  request: ClaimRequest,
  able: ReadonlySet<string>,
): Promise<LeaseAnswer | undefined> {
  const { index } = parts.ports
  const heads = await index.heads(runs)
  const now = parts.clock.now()
  const early: Promise<unknown>[] = []
  try {
    for (const [n, run] of runs.entries()) {
      const head = heads[n]
      if (!head?.alive || head.ended) continue
      if (isLive(head.lease, now)) {
        early.push(putLater(parts, run, head))
        continue
      }
      if (!head.requires.every((need) => able.has(need)) || isTurnOfOthers(head, request, now)) continue
      const { machine_id, world_id } = request
      const reason = head.lease ? 'expired' : 'released'
      // A new epoch in any case: another process of the same worker may have held the run.
      const decision = takeOver(head, { machine_id, world_id }, now, reason)
      const answer = await look.attempt(run, head.epoch, () => grant(parts, run, head, decision, now))
      if (answer) return answer
    }
    return undefined
  } finally {
    await Promise.all(early)
  }
}

/** Its lease was prolonged by appends: it need not be looked at before that runs out. */
async function putLater({ ports: { index } }: StoreParts, run: RunKey, head: Head): Promise<void> {
  const { life, epoch, tail, lease } = head
  const claim_at = lease?.expires_at ?? null
  const expect = { alive: true, life, epoch, tail, lease_expires_at: claim_at }
  await index.commit(run, expect, { set: { claim_at } }).catch((error: unknown) => {
    if (!isRunfoldError(error)) throw error // it will be looked at again, that is all
  })
}

function isTurnOfOthers({ holder, lease, claim_at }: Head, asking: Worker, now: number): boolean {
  const isLast = holder?.machine_id === asking.machine_id && holder.world_id === asking.world_id
  const freeSince = lease?.expires_at ?? claim_at ?? 0
  return isLast && now < freeSince + TURN_OF_OTHERS_MS
}

/** Nobody is there any more to be told. */
async function giveBack(parts: StoreParts, tenant: string, { run_id, epoch }: LeaseAnswer): Promise<void> {
  await release(parts, { tenant, run_id }, epoch).catch(() => undefined)
}
