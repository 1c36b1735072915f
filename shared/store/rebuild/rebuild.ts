import { loadDigest } from '../../codec/index.ts'
import type { RunKey } from '../../schema/index.ts'
import { cardRow } from '../card-row.ts'
import { holdKey, RUNS_PREFIX, runOfKey } from '../keys.ts'
import { announce, type Stopped } from '../maintain/manifest.ts'
import { viewOf } from '../parts.ts'
import type { Clock, Head, StoredObject, StorePorts } from '../ports.ts'
import { digestUpTo } from '../replay.ts'
import { PARTS_PREFIX } from '../uploads/own-uploads.ts'
import { type Chain, followChain } from './chain.ts'
import { type Evidence, gather } from './evidence.ts'
import { isAnotherLife, isCut, measureOf, ownersOf, rebuiltHead, rebuiltTombstone } from './head.ts'
import { type Measured, resumed } from './measure.ts'

// DESIGN.md, "Rebuild": the index from the objects alone. Runs that the index knows are left as they are, so it may be
// broken off and begun again. Nobody may write meanwhile.

/** For so long nothing of a rebuilt run is swept: time to look at what was kept aside, or to think again. */
const HOLD_MS = 7 * 86_400_000

/** What became of a run. */
export interface RebuiltRun extends Stopped {
  readonly run: RunKey
  /** `known`: the index had it already. */
  readonly outcome: 'rebuilt' | 'deleted' | 'known'
  readonly tail: number
  readonly frames: number
  readonly epoch: number
  /**
   * Key of the note of a deletion that was begun before the index was lost and may have been made, but was not acknowledged:
   * the run lives again, and is to be deleted again if that was meant. Null where nothing tells of one.
   */
  readonly ending: string | null
}

/** A run that could not be rebuilt; the others go on. */
export interface FailedRun {
  readonly run: RunKey
  readonly outcome: 'failed'
  readonly error: unknown
}

/** Gives every run of the bucket back to the index, one after the other. */
export async function* rebuild(ports: StorePorts, clock: Clock): AsyncGenerator<RebuiltRun | FailedRun> {
  await loadDigest()
  await forgetUploads(ports)
  for await (const [run, listed] of runsIn(ports.objects.list(RUNS_PREFIX))) {
    try {
      yield await rebuildRun(ports, clock, run, listed)
    } catch (error) {
      yield { run, outcome: 'failed', error }
    }
  }
}

/** Keys of one run stand together. */
async function* runsIn(
  objects: AsyncIterable<StoredObject>,
): AsyncGenerator<readonly [RunKey, readonly StoredObject[]]> {
  let current: RunKey | undefined
  let listed: StoredObject[] = []
  for await (const object of objects) {
    const run = runOfKey(object.key)
    if (!run) continue
    if (current && (run.tenant !== current.tenant || run.run_id !== current.run_id)) {
      yield [current, listed]
      listed = []
    }
    current = run
    listed.push(object)
  }
  if (current) yield [current, listed]
}

async function rebuildRun(
  ports: StorePorts,
  clock: Clock,
  run: RunKey,
  listed: readonly StoredObject[],
): Promise<RebuiltRun> {
  const known = await ports.index.head(run)
  if (known) return outcomeOf(run, 'known', known)
  const { evidence, chain, ending } = await farthestLife(ports, run, listed)
  const now = clock.now()
  const held_until = now + HOLD_MS
  await ports.objects.put(holdKey(run, held_until), [], {})
  if (!chain) {
    const head = rebuiltTombstone(evidence, held_until, now)
    await commit(ports, run, head)
    return outcomeOf(run, 'deleted', head)
  }
  const head = rebuiltHead(evidence, chain, held_until, now)
  const { card } = chain.end
  const transfers = ownersOf(evidence).slice(1)
  const stopped = isCut(chain) ? stoppedBy(chain) : stoppedBefore(evidence, head)
  // The objects tell of the life before, so only a manifest can give this one back should the index be lost again.
  if (isAnotherLife(evidence, chain)) {
    const isShort = stopped.lost !== null || stopped.undecided.length > 0
    await announce(ports.objects, run, head, { card, transfers, ...(isShort ? { stopped } : {}) })
  }
  for (const transfer of transfers) await ports.index.putTransfer(run, transfer)
  await commit(ports, run, head, cardRow(run, head, card))
  return { ...outcomeOf(run, 'rebuilt', head), ...stopped, ending }
}

interface Life {
  readonly evidence: Evidence
  /** Undefined where the life was ended. */
  readonly chain: Chain | undefined
  readonly ending: string | null
}

/** The newest life; of those that a rebuild had to cut the one that reaches farthest now. */
async function farthestLife(ports: StorePorts, run: RunKey, listed: readonly StoredObject[]): Promise<Life> {
  let best: { readonly evidence: Evidence; readonly chain: Chain } | undefined
  let ending: string | undefined
  for await (const evidence of gather(ports.objects, run, listed)) {
    if (evidence.isDead && best) break
    if (evidence.isDead) return { evidence, chain: undefined, ending: null }
    ending ??= evidence.ending
    const chain = await followChain(ports.objects, await beginning(ports, evidence), evidence)
    // Where this one is cut anew, the one before tells of all that is lost.
    const least = best ? best.chain.end.offset + (isCut(best.chain) ? 0 : 1) : 0
    if (!best || chain.end.offset >= least) best = { evidence, chain }
  }
  if (!best) throw new Error(`nothing tells of a life of ${run.run_id}`)
  return { ...best, ending: ending ?? null }
}

const stoppedBy = ({ undecided, lost }: Chain): Stopped => ({
  undecided: undecided.map(({ key }) => key),
  lost: lost ?? null,
})

/** What a rebuild that was broken off had to say of a run that is as it left it. */
const stoppedBefore = ({ base }: Evidence, { tail }: Head): Stopped =>
  (base?.head.tail === tail && base.stopped) || { undecided: [], lost: null }

async function commit({ index }: StorePorts, run: RunKey, head: Head, card?: ReturnType<typeof cardRow>) {
  const { extents, ...set } = head
  await index.commit(run, { absent: true }, { set, extents }, card)
}

/** The base with a hash state that this program can go on from. */
async function beginning(ports: StorePorts, { run, base }: Evidence): Promise<Measured> {
  const saved = resumed(base?.head.hash_state ?? '')
  if (saved || !base) return measureOf(base, saved?.state ?? '')
  const { state } = await digestUpTo(viewOf(ports, run, base.head), base.head.tail, [])
  return measureOf(base, state)
}

function outcomeOf(run: RunKey, outcome: RebuiltRun['outcome'], head: Head): RebuiltRun {
  const { tail, frames, epoch } = head
  return { run, outcome, tail, frames, epoch, undecided: [], lost: null, ending: null }
}

/** An index without runs knows of no upload, so parts that were received here (own-uploads.ts) can never be completed. */
async function forgetUploads({ objects, index }: StorePorts): Promise<void> {
  if ((await index.everyRun(undefined, 1)).length > 0) return
  const keys: string[] = []
  for await (const { key } of objects.list(PARTS_PREFIX)) keys.push(key)
  await objects.remove(keys)
}
