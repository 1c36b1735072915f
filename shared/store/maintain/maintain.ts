import type { RunKey } from '../../schema/index.ts'
import { cardRow, currentCard, isFresh } from '../card-row.ts'
import type { Clock, Head, StorePorts } from '../ports.ts'
import { abortAll, abortExpired } from '../uploads/cleanup.ts'
import { damagedPiece } from './damage.ts'
import { type MergeOptions, merge } from './merge.ts'
import { type Retention, retire } from './retention.ts'
import { isAtRest, isSweepDue, nextDue, nextMerge } from './schedule.ts'
import { SNAPSHOT_POLICY, type SnapshotPolicy } from './snapshot-policy.ts'
import { writeSnapshots } from './snapshots.ts'
import { sweep } from './sweep.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Longer than any read or presigned URL plus clock differences (DESIGN.md). */
const GRACE_MS = HOUR_MS
/** Runs looked at in one pass. */
const RUNS_A_PASS = 100
/** Merges of one run in one pass, so that a long one does not hold up the others. */
const MERGES_A_VISIT = 8
/** After a failure a run has to wait. */
const RETRY_MS = 60_000
/** Every so often all heads are visited, in case an entry of the due list was lost. */
const ROUND_MS = DAY_MS
const ROUND_RUNS_A_PASS = 20

const keepAll: Retention = () => false

export interface MaintainOptions {
  readonly graceMs?: number
  readonly snapshots?: SnapshotPolicy
  /** Which runs are deleted by the slow round. @default none */
  readonly retention?: Retention
  /** Told of every look at a run. */
  readonly observe?: (visit: Visit) => void
}

/** What one look at a run found and did. */
export interface Visit {
  readonly run: RunKey
  /** How long it had been due, ms; undefined where it was not. */
  readonly waited_ms: number | undefined
  readonly merges: number
  readonly removed_bytes: number
}

export interface Maintainer {
  /**
   * Does what is due: merges, final merges, snapshots, cards, the sweep. Idempotent, and harmless beside another at work. Throws
   * an AggregateError of what failed after the other runs had their turn.
   *
   * @param isOver asked before each run; what is left then is still due
   */
  pass(isOver?: () => boolean): Promise<void>
  /** Does what one run needs now. For whoever knows that it is due, since the due list may learn of it later. */
  visit(run: RunKey): Promise<void>
  /**
   * The slow round, for a process that does not live from one to the next: every run behind `after`, or from the first.
   *
   * @returns the run to go on behind, undefined when all were visited; and what failed
   */
  round(after: RunKey | undefined, isOver: () => boolean): Promise<RoundResult>
}

export interface RoundResult {
  readonly after: RunKey | undefined
  readonly failures: readonly unknown[]
}

export function createMaintainer(ports: StorePorts, clock: Clock, options: MaintainOptions = {}): Maintainer {
  const { graceMs = GRACE_MS, snapshots = SNAPSHOT_POLICY, retention = keepAll } = options
  const { observe = () => {} } = options
  let round: { after: RunKey | undefined } | undefined
  let nextRound = clock.now() + ROUND_MS

  /** The next few runs of the slow round, which begins once a day. */
  const roundRuns = async (): Promise<readonly RunKey[]> => {
    if (!round && clock.now() < nextRound) return []
    const runs = await ports.index.everyRun(round?.after, ROUND_RUNS_A_PASS)
    const isDone = runs.length < ROUND_RUNS_A_PASS
    round = isDone ? undefined : { after: runs.at(-1) }
    if (isDone) nextRound = clock.now() + ROUND_MS
    return runs
  }

  const look = async (run: RunKey, isRound: boolean): Promise<void> => {
    try {
      const { seen, damage } = await visit(ports, clock, run, { graceMs, snapshots, retention, isRound })
      observe(seen)
      if (damage) throw damage
    } catch (error) {
      await postpone(ports, clock, run).catch(() => {})
      throw error
    }
  }

  return {
    visit: (run) => look(run, false),
    round: async (from, isOver) => {
      const failures: unknown[] = []
      for (let after = from; ; ) {
        const runs = await ports.index.everyRun(after, ROUND_RUNS_A_PASS)
        for (const run of runs) {
          if (isOver()) return { after, failures }
          await look(run, true).catch((error) => failures.push(error))
          after = run
        }
        if (runs.length < ROUND_RUNS_A_PASS) return { after: undefined, failures }
      }
    },
    pass: async (isOver = () => false) => {
      const failures: unknown[] = []
      for await (const failure of abortExpired(ports, clock.now())) failures.push(failure)
      const due = await ports.index.due(clock.now(), RUNS_A_PASS)
      const visits = [
        ...due.map((run) => ({ run, isRound: false })),
        ...(await roundRuns()).map((run) => ({ run, isRound: true })),
      ]
      for (const { run, isRound } of visits) {
        if (isOver()) break
        await look(run, isRound).catch((error) => failures.push(error))
      }
      if (failures.length > 0)
        throw new AggregateError(failures, `maintenance failed in ${failures.length} places`)
    },
  }
}

/** Damage does not heal by being looked at every second. */
async function postpone({ index }: StorePorts, clock: Clock, run: RunKey): Promise<void> {
  const due_at = (await index.head(run))?.due_at
  if (due_at) await index.commit(run, { due_at }, { set: { due_at: clock.now() + RETRY_MS } })
}

/** All that one run needs now, and when it is to be looked at again. */
async function visit(
  ports: StorePorts,
  clock: Clock,
  run: RunKey,
  {
    graceMs,
    snapshots,
    retention,
    isRound,
  }: Required<Omit<MaintainOptions, 'observe'>> & { readonly isRound: boolean },
): Promise<{ readonly seen: Visit; readonly damage: unknown }> {
  const began = clock.now()
  const {
    merges,
    due_at: was_due_at,
    head: merged,
    damage,
  } = await mergeAll(ports, clock, run, { graceMs, snapshots })
  const waited_ms = was_due_at === null ? undefined : Math.max(0, began - was_due_at)
  let seen: Visit = { run, waited_ms, merges, removed_bytes: 0 }
  let head = merged
  if (head && isRound) head = await retire({ ports, clock }, run, head, retention)
  if (!head) return { seen, damage }
  const isFolded = await writeSnapshots(ports, run, head, snapshots, isAtRest(head, clock.now()))
  await mendCard(ports, run, head)
  let sweep_at = head.sweep_at ?? null
  if (isRound || isSweepDue(head, clock.now())) {
    const swept = await sweep(ports, clock, run, graceMs)
    sweep_at = swept.next_at
    seen = { ...seen, removed_bytes: swept.bytes }
    head = await ports.index.head(run)
    if (!head) return { seen, damage }
  }
  if (!head.alive) await abortAll(ports, run, head)

  // Judged by what was seen, and written only if that is still so: an append or a holder may have come meanwhile.
  const now = clock.now()
  const due_at = damage ? now + RETRY_MS : isFolded ? nextDue(head, now, sweep_at) : now
  if (due_at === head.due_at && sweep_at === head.sweep_at) return { seen, damage }
  const { life, epoch, tail } = head
  const lease_expires_at = head.lease?.expires_at ?? null
  const expect = { life, epoch, tail, lease_expires_at, due_at: head.due_at }
  await ports.index.commit(run, expect, { set: { due_at, sweep_at } })
  return { seen, damage }
}

interface Merged {
  /** As it was last seen. */
  readonly head: Head | undefined
  readonly merges: number
  /** When the run had been due. */
  readonly due_at: number | null
  /** The first extent that could not be merged, as an error; the others were merged around it. */
  readonly damage: unknown
}

async function mergeAll(
  ports: StorePorts,
  clock: Clock,
  run: RunKey,
  options: MergeOptions,
): Promise<Merged> {
  let head = await ports.index.head(run)
  const due_at = head?.due_at ?? null
  const damaged = new Set<string>()
  let damage: unknown
  let merges = 0
  while (head?.alive && merges < MERGES_A_VISIT) {
    const pieces = nextMerge(head, clock.now(), damaged)
    if (!pieces) break
    try {
      if (!(await merge(ports, clock, run, head, pieces, options))) break
      merges++
      head = await ports.index.head(run)
    } catch (error) {
      const piece = damagedPiece(pieces, error)
      if (!piece) throw error
      damaged.add(piece.name)
      damage ??= error
    }
  }
  return { head, merges, due_at, damage }
}

/** Makes a card again whose write was lost between the commit of the head and its own; takes away that of a tombstone. */
async function mendCard(ports: StorePorts, run: RunKey, head: Head): Promise<void> {
  if (!head.alive) return ports.index.removeCard(run, head.life)
  const row = await ports.index.card(run)
  if (row && isFresh(head, row)) return
  const card = cardRow(run, head, await currentCard(ports, run, head))
  const { life, tail } = head
  await ports.index.commit(run, { alive: true, life, tail }, { set: {} }, card)
}
