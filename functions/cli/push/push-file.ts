import { stat } from 'node:fs/promises'
import { type Client, type RunTail, sendArchive } from '#client'
import { type AppendAnswer, type Capabilities, isRunfoldError, RunfoldError, type Worker } from '#schema'
import type { Survey, TornTail } from '../../daemon/survey.ts'
import { FileSource } from './file-source.ts'
import { survey } from './survey.ts'

export interface PushOptions {
  readonly client: Client
  readonly limits: Capabilities['limits']
  /** Whether the server offers direct uploads. */
  readonly uploads: boolean
  readonly worker: Worker
  readonly run: string
  readonly path: string
  readonly force?: boolean
  readonly wait_s?: number
  readonly ttl_s?: number
  /** Leaves the lease with the worker afterwards. */
  readonly keepLease?: boolean
  readonly signal: AbortSignal
  /** Told where sending begins, how far it is, and when it is over. */
  readonly progress: (from: number, end: number) => { at(position: number): void; stop(): void }
}

export interface Pushed {
  readonly run_id: string
  readonly file: string
  /** `ahead`: the server has more than the file, which is a beginning of it. */
  readonly outcome: 'pushed' | 'unchanged' | 'ahead'
  /** Where the server's archive ended before and ends now. */
  readonly from: number
  readonly tail: number
  readonly digest: string
  readonly epoch: number
  readonly torn: TornTail | undefined
}

/** What of a file can be sent, and why no more. */
type Whole = Pick<Survey, 'end' | 'torn'>

/** How long a release may take when the push itself was interrupted. */
const RELEASE_MS = 3000

/**
 * Brings a run on the server up to a file: compares what both have, takes the lease, sends the rest, compares again, gives
 * the lease back. Rejects with offset_conflict, before anything is sent, when the file is not what the server has.
 */
export const pushFile = async (options: PushOptions): Promise<Pushed> => {
  const { client, path, run } = options
  const { size } = await stat(path)
  const source = new FileSource(path, size)

  // A look before the lease is taken: a file that cannot be sent must not fence off the run's owner.
  const known = await knownTail(client, run)
  const first = await planFrom(options, source, known ?? EMPTY)
  if (known && first.end <= known.tail) return pushed(options, known.tail, known, first)

  const { worker, force, wait_s, ttl_s } = options
  const held = await client.acquire(run, {
    ...worker,
    ...(force && { force }),
    ...(wait_s !== undefined && { wait_s }),
    ...(ttl_s !== undefined && { ttl_s }),
  })
  try {
    const moved = held.tail !== (known?.tail ?? 0)
    const plan = moved ? await planFrom(options, source, held) : first
    if (plan.end <= held.tail) return pushed(options, held.tail, held, plan)
    const last = await send(options, source.upTo(plan.end), held)
    return pushed(options, held.tail, last, plan)
  } finally {
    if (!options.keepLease) await giveBack(client, run, held.epoch)
  }
}

const EMPTY = { tail: 0, digest: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' }

/** What the server has, or undefined when there is no such run, or when the token may append but not look. */
const knownTail = async (client: Client, run: string): Promise<RunTail | undefined> => {
  try {
    return await client.tail(run)
  } catch (error) {
    if (isRunfoldError(error, 'not_found', 'forbidden')) return undefined
    throw error
  }
}

/** How far the file can be sent, given what the server has. `end` is at or before its tail when there is nothing to send. */
const planFrom = async (
  options: PushOptions,
  source: FileSource,
  { tail, digest }: Pick<RunTail, 'tail' | 'digest'>,
): Promise<Whole> => {
  if (tail > source.end) return shorterFile(options, source)
  if ((await source.digest(tail)) !== digest) throw differing(options.run, tail)
  return survey(options.path, tail, source.end)
}

/** The server has more than the file: is the file a beginning of it? What is torn at the file's end does not matter then. */
const shorterFile = async ({ client, run, path }: PushOptions, source: FileSource): Promise<Whole> => {
  const { end } = await survey(path, 0, source.end)
  const digest = await client.verify(run, { to: end }).then(
    (verdict) => verdict.digest,
    (error) => {
      // No frame ends there on the server, so its bytes must be others.
      if (isRunfoldError(error, 'bad_request')) return undefined
      throw error
    },
  )
  if ((await source.digest(end)) !== digest) throw differing(run, end)
  return { end, torn: undefined }
}

const differing = (run: string, bytes: number) =>
  new RunfoldError(
    'offset_conflict',
    `the first ${bytes} bytes of the file and of ${run} on the server differ; nothing was sent`,
    { bytes, run_id: run },
  )

const send = async (
  options: PushOptions,
  source: FileSource,
  held: { readonly tail: number; readonly epoch: number },
): Promise<AppendAnswer> => {
  const { client, run, limits, uploads, signal } = options
  const progress = options.progress(held.tail, source.end)
  try {
    const { epoch, tail } = held
    const onAck = (answer: AppendAnswer) => progress.at(answer.tail)
    const onSent = (position: number) => progress.at(position)
    const what = { run, epoch, tail, source, limits, uploads }
    const last = await sendArchive(client, { ...what, signal, onAck, onSent })
    if (last && last.tail === source.end && last.digest === (await source.digest(source.end))) return last
    throw new RunfoldError('internal', `after the push the server’s digest of ${run} is not that of the file`)
  } finally {
    progress.stop()
  }
}

/** A lease that cannot be given back ends by itself; what matters has been said already. */
const giveBack = async (client: Client, run: string, epoch: number): Promise<void> => {
  await client.release(run, epoch, AbortSignal.timeout(RELEASE_MS)).catch(() => undefined)
}

const pushed = (
  { run, path }: PushOptions,
  from: number,
  now: { readonly tail: number; readonly digest: string; readonly epoch: number },
  { end, torn }: Whole,
): Pushed => ({
  run_id: run,
  file: path,
  outcome: end < now.tail ? 'ahead' : now.tail > from ? 'pushed' : 'unchanged',
  from,
  tail: now.tail,
  digest: now.digest,
  epoch: now.epoch,
  torn,
})
