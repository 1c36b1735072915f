import { type Client, createClient, type Redacted, type RetryPolicy } from '#client'
import type { Capabilities } from '#schema'
import { identityOf, stateFolderOf } from '../identity.ts'
import { zstd } from '../zstd.ts'
import { heldStates } from './held-states.ts'
import { type LeasePolicy, Leases } from './leases.ts'
import type { Report } from './report.ts'
import { openStates } from './state-file.ts'
import { Watcher } from './watcher.ts'

export interface WatchOptions {
  readonly folder: string
  readonly url: string
  readonly token: Redacted | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly policy: LeasePolicy
  readonly report: Report
  /** Ends requests that are under way; what ends the watching itself is given to `watch`. */
  readonly signal: AbortSignal
  readonly fetch?: typeof fetch
  readonly retry?: RetryPolicy
}

/** A watcher that has its folder to itself; it gives the folder free when it is disposed of. */
export type OpenWatcher = Pick<Watcher, 'watch' | 'once'> & Disposable

/** How often the client itself repeats a request; then the run waits for its turn, and others are looked at meanwhile. */
const RETRIES = 2

/** Undefined when another process watches the folder. */
export const openWatcher = async (options: WatchOptions): Promise<OpenWatcher | undefined> => {
  const { folder, env, url, token, policy, report, signal } = options
  const stateFolder = await stateFolderOf(folder, env)
  const states = openStates(stateFolder)
  if (!states) return undefined
  const worker = await identityOf(folder, stateFolder)
  const heard = counting(options.fetch ?? fetch)
  const client = createClient({
    url,
    ...(token && { token }),
    fetch: heard.fetch,
    signal,
    compress: zstd,
    retry: { ...options.retry, retries: RETRIES },
  })
  const capabilities = capabilitiesOf(client)
  const bounds = async () => (await capabilities()).limits.lease_ttl_s
  // Wall clocks are set and stand still while a machine sleeps; this one does neither harm.
  const now = () => performance.now()
  const leases = new Leases(client, worker, policy, bounds, now)
  const watcher = new Watcher(folder, {
    states: heldStates(states, ({ message }) => report({ event: 'unsaved', detail: message })),
    shipping: {
      client,
      capabilities,
      leases,
      answers: heard.answers,
      now,
      signal,
      onProgress: progressOf(report, now),
    },
    report,
  })
  return {
    watch: (stop) => watcher.watch(stop),
    once: () => watcher.once(),
    [Symbol.dispose]: () => states[Symbol.dispose](),
  }
}

/** Counts the answers that show a server at work; what a gateway or a hotel's page says is told apart where it is read. */
const counting = (send: typeof fetch) => {
  let answers = 0
  const counted: typeof fetch = async (...request) => {
    const answer = await send(...request)
    if (answer.status !== 401 && answer.status < 500) answers++
    return answer
  }
  return { fetch: counted, answers: () => answers }
}

/** Not every batch is worth a line. */
const PROGRESS_EVERY_MS = 5000

const progressOf = (report: Report, now: () => number) => {
  let next = 0
  return (run_id: string, tail: number, end: number) => {
    if (now() < next) return
    next = now() + PROGRESS_EVERY_MS
    report({ event: 'sending', run_id, tail, end })
  }
}

const capabilitiesOf = (client: Client): (() => Promise<Capabilities>) => {
  let known: Promise<Capabilities> | undefined
  return () => {
    known ??= client.capabilities()
    known.catch(() => {
      known = undefined
    })
    return known
  }
}
