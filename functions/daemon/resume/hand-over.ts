import { RunfoldError, type Worker } from '#schema'
import { type FeedOptions, RunFeed } from './run-feed.ts'

export interface HandOverOptions extends Omit<FeedOptions, 'epoch'> {
  /** As whom the runs folder is worked on; a watcher of it holds the lease as the same. */
  readonly worker: Worker
}

export interface HandedOver {
  readonly run_id: string
  readonly epoch: number
  readonly tail: number
  readonly digest: string
}

/**
 * Sends what a run's file has, and gives the lease back, so that another machine can take the run without force and without
 * loss. A watcher that holds it notices, and takes it again only when the file grows.
 *
 * @throws not_found; lease_held by another; offset_conflict where the file is not what the server has
 */
export const handOver = async (options: HandOverOptions): Promise<HandedOver> => {
  const { client, run, worker, path } = options
  await client.tail(run) // taking the lease would make a run that is not there
  const held = await client.acquire(run, worker)
  const { epoch } = held
  try {
    const feed = await RunFeed.open({ ...options, epoch }, held)
    if (!feed) {
      const text = `${path} does not begin with the ${held.tail} bytes that the server has of ${run}`
      throw new RunfoldError('offset_conflict', text, { tail: held.tail, digest: held.digest })
    }
    await feed.send(true)
    return { run_id: run, epoch, ...feed.sent }
  } finally {
    await client.release(run, epoch)
  }
}
