import { type Client, pause } from '#client'
import { isRunfoldError, type LeaseAnswer } from '#schema'
import { bringRun, type Resumed, type ResumeOptions } from '../resume/resume.ts'
import { RunFeed } from '../resume/run-feed.ts'
import { makeRunFolder } from '../resume/run-folder.ts'
import { whileHolding } from '../resume/while-holding.ts'
import type { RunningCommand } from './command.ts'

/** Between two looks at what the command has appended. */
const LOOK_MS = 500
/** Between two tries to send the rest when the command has ended. */
const AGAIN_MS = 2000

export interface CarryOptions extends Omit<ResumeOptions, 'take'> {
  readonly start: (held: LeaseAnswer) => RunningCommand
  /** Ends the command; what it has appended is still sent, and the run given back. `signal` ends that too. */
  readonly stop: AbortSignal
  /** Told when the run is here; undefined for one that is still empty. */
  readonly onBrought?: (resumed: Resumed | undefined) => Promise<void>
}

export interface Carried {
  readonly run_id: string
  readonly epoch: number
  /** Of the command; null where a signal ended it. */
  readonly exit_code: number | null
  readonly tail: number
}

/**
 * Brings a run that was claimed, has a command work on it and sends what that appends to `run.lvr`; giving the run back is left to
 * who claimed it. While the server cannot be reached the command works on, and everything is sent afterwards.
 *
 * @throws fenced where another has taken the run; the command is ended then
 */
export const carryOn = (options: CarryOptions, held: LeaseAnswer): Promise<Carried> =>
  whileHolding(options.client, held, options.signal, (signal) => carry({ ...options, signal }, held))

/** Does something with a run that was claimed, and gives it back however that ends. */
export const givingBack = async <T>(
  client: Client,
  { run_id, epoch }: LeaseAnswer,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work()
  } finally {
    // Who has lost the run has nothing to give back, and a lease that cannot be given back ends by itself.
    await client.release(run_id, epoch).catch(() => undefined)
  }
}

const carry = async (options: CarryOptions, held: LeaseAnswer): Promise<Carried> => {
  const { run, stop, signal } = options
  const feed = await bring(options, held)
  stop.throwIfAborted()
  const command = options.start(held)
  const exit_code = await sendWhile(feed, command, AbortSignal.any([stop, signal]))
  signal.throwIfAborted()
  await sendRest(feed, signal)
  return { run_id: run, epoch: held.epoch, exit_code, tail: feed.sent.tail }
}

/** A run without a byte is one that was left for whoever would begin it. */
const bring = async (options: CarryOptions, held: LeaseAnswer): Promise<RunFeed> => {
  const { folder, onBrought } = options
  if (held.tail === 0) await makeRunFolder(folder)
  const resumed = held.tail === 0 ? undefined : await bringRun(options, held)
  await onBrought?.(resumed)
  const feed = await RunFeed.open({ ...options, epoch: held.epoch, path: folder.archive }, resumed ?? held)
  if (feed) return feed
  throw new Error(`${folder.archive} was changed while it was brought`)
}

/** The command's exit code; it is ended when `stop` aborts, or when what it does can no longer be sent. */
const sendWhile = async (
  feed: RunFeed,
  command: RunningCommand,
  stop: AbortSignal,
): Promise<number | null> => {
  let isOver = false
  const over = command.ended.finally(() => {
    isOver = true
  })
  try {
    while (!isOver && !stop.aborted) {
      await Promise.race([over, pause(LOOK_MS, stop).catch(() => undefined)])
      await feed.send(false).catch(throwUnlessLater)
    }
  } finally {
    if (!isOver) command.stop()
    await over
  }
  return over
}

/** Everything that is whole goes to the server, however long that takes. */
const sendRest = async (feed: RunFeed, signal: AbortSignal): Promise<void> => {
  for (;;) {
    try {
      return await feed.send(true)
    } catch (error) {
      throwUnlessLater(error)
      await pause(AGAIN_MS, signal)
    }
  }
}

/** What another try may mend is no reason to stop working. */
const throwUnlessLater = (error: unknown): void => {
  if (!isRunfoldError(error, 'unavailable', 'slow_down', 'internal')) throw error
}
