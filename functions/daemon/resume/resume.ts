import { rm } from 'node:fs/promises'
import { type Client, sendArchive } from '#client'
import {
  type Capabilities,
  type LeaseAnswer,
  type PendingBatch,
  RunfoldError,
  type RunMeta,
  TERMINAL_STATUSES,
  type Worker,
} from '#schema'
import { ArchiveFile, NO_PREFIX } from '../watch/archive-file.ts'
import { writeBehind } from './durable-file.ts'
import { fileChunks } from './file-chunks.ts'
import { foldFile, noHeader } from './fold-file.ts'
import { ownerFrames } from './owner-frames.ts'
import { type PathRule, withPaths } from './path-map.ts'
import { type Former, placeArchive, sizeOf } from './place-archive.ts'
import { type Plan, planOf, readPlan, writePlan } from './plan.ts'
import { RunFeed } from './run-feed.ts'
import { makeRunFolder, type RunFolder, writeContext, writeMeta } from './run-folder.ts'
import { type FetchArchive, stageArchive } from './stage-archive.ts'
import { whileHolding } from './while-holding.ts'

/** In their order. A resume that is cut off behind any of them, or within one, is completed by the next. */
export const RESUME_STEPS = [
  'held',
  'planned',
  'fetched',
  'staged',
  'sent',
  'placed',
  'context',
  'meta',
] as const
type ResumeStep = (typeof RESUME_STEPS)[number]

export interface ResumeOptions {
  readonly client: Client
  readonly limits: Capabilities['limits']
  readonly uploads: boolean
  readonly run: string
  readonly worker: Worker
  readonly folder: RunFolder
  readonly paths: readonly PathRule[]
  /** The lease, as it can be had. */
  readonly take: () => Promise<LeaseAnswer>
  readonly fetch: FetchArchive
  /** This machine's clock, for the time in the records. */
  readonly now: () => number
  readonly signal: AbortSignal
  readonly onStep?: (step: ResumeStep) => void
}

type Parts = Omit<ResumeOptions, 'take'>

export interface Resumed {
  readonly run_id: string
  readonly folder: string
  /** `here`: this machine had the run already, and nothing was changed. */
  readonly outcome: 'resumed' | 'here'
  readonly epoch: number
  readonly previous: Worker | null
  readonly tail: number
  readonly digest: string
  readonly former: Former
  /** Without its secret, which stands in the folder alone. */
  readonly meta: RunMeta
  readonly pending: PendingBatch | null
}

/**
 * Brings a run to this machine: takes its lease, fetches the archive, says in it who owns it now, and writes the run's folder
 * so that a daemon can go on. The archive on the server and `run.lvr` are equal afterwards.
 *
 * @throws not_found; bad_request where the run has ended, bad_frames where it has no Header; lease_held; fenced when another
 * takes it meanwhile
 */
export const resumeRun = async (options: ResumeOptions): Promise<Resumed> => {
  const { client, run } = options
  const { status } = await client.run(run)
  if (status === null) throw noHeader(`${run} has no Header yet`)
  if (TERMINAL_STATUSES.has(status))
    throw new RunfoldError('bad_request', `${run} has ended (${status}): there is nothing to resume`, {
      status,
    })
  const { lease } = await client.leaseState(run)
  const held = await options.take()
  options.onStep?.('held')
  const wasOurs = isSame(lease, options.worker)
  return whileHolding(client, held, options.signal, async (signal) =>
    wasOurs && (await isHere(options, held))
      ? describe(options, held)
      : bringRun({ ...options, signal }, held),
  )
}

const isSame = (lease: Worker | null, worker: Worker): boolean =>
  lease?.machine_id === worker.machine_id && lease.world_id === worker.world_id

/** A folder with all of the archive, that no resume is at work on: a daemon has the run, or is about to. */
const isHere = async (options: Parts, held: LeaseAnswer): Promise<boolean> => {
  const { folder } = options
  if ((await readPlan(folder)) || (await sizeOf(folder.meta)) === undefined) return false
  return (await RunFeed.open({ ...options, epoch: held.epoch, path: folder.archive }, held)) !== undefined
}

/** The same for who holds the lease already, and keeps it. Rejects with bad_frames where there is no Header. */
export const bringRun = async (options: Parts, held: LeaseAnswer): Promise<Resumed> => {
  const { folder, worker, signal, onStep } = options
  await makeRunFolder(folder)
  const plan = (await planOf(folder, held.epoch)) ?? (await newPlan(options, held))
  onStep?.('planned')
  await stageArchive(folder, plan, options.fetch)
  onStep?.('fetched')
  signal.throwIfAborted()

  const { meta, context, pending } = await foldFile(fileChunks(folder.staged, plan.tail))
  await writeBehind(folder.staged, plan.tail, ownerFrames(worker, context, plan.at))
  onStep?.('staged')
  const { tail, digest } = await send(options, plan)
  onStep?.('sent')
  signal.throwIfAborted()

  const former = await placeArchive(folder, plan.epoch)
  onStep?.('placed')
  const moved = withPaths(meta, options.paths)
  if (former.outcome !== 'ahead') {
    await writeContext(folder, context)
    onStep?.('context')
    await writeMeta(folder, moved)
    onStep?.('meta')
  }
  await rm(folder.work, { recursive: true })
  const { run_id, epoch, previous } = held
  const what = { run_id, epoch, previous, tail, digest, former, meta: withoutSecret(moved), pending }
  return { ...what, folder: folder.path, outcome: former.outcome === 'ahead' ? 'here' : 'resumed' }
}

/**
 * What this machine has written and nobody has sent, where the archive is a beginning of it, is the run's own and goes first:
 * a machine that comes back after a crash loses nothing.
 */
const newPlan = async (options: Parts, held: LeaseAnswer): Promise<Plan> => {
  const { folder, now } = options
  const feed = await RunFeed.open({ ...options, epoch: held.epoch, path: folder.archive }, held)
  await feed?.send(true)
  const { run_id, epoch } = held
  return writePlan(folder, { run_id, epoch, ...(feed?.sent ?? held), at: Math.floor(now() / 1000) })
}

/** To the place that was planned: where they are stored already, they are stored once. */
const send = async ({ client, run, limits, uploads, signal, folder }: Parts, plan: Plan) => {
  const source = await ArchiveFile.open(folder.staged, NO_PREFIX)
  if (!source) throw new RunfoldError('internal', `${folder.staged} is gone`)
  try {
    const { epoch, tail } = plan
    const last = await sendArchive(client, { run, epoch, tail, source, limits, uploads, signal })
    const digest = await source.digest(source.end)
    if (last?.tail === source.end && last.digest === digest) return { tail: source.end, digest }
    throw new RunfoldError('internal', `the archive of ${run} is not what was sent`, { tail: last?.tail })
  } finally {
    await source.close()
  }
}

const describe = async ({ folder }: ResumeOptions, held: LeaseAnswer): Promise<Resumed> => {
  const { meta, pending } = await foldFile(fileChunks(folder.archive))
  const { run_id, epoch, previous, tail, digest } = held
  const what = { run_id, epoch, previous, tail, digest, meta: withoutSecret(meta), pending }
  return { ...what, former: { outcome: 'ahead' }, folder: folder.path, outcome: 'here' }
}

const withoutSecret = (meta: RunMeta): RunMeta => ({ ...meta, callback_secret: null })
