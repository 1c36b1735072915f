import { type Client, mayPass, pause, sendArchive } from '#client'
import type { AppendAnswer, Capabilities, Worker } from '#schema'
import { mergeRecords } from './segment.ts'
import type { Spool } from './spool.ts'

export interface DrainOptions {
  readonly client: Client
  /** As whom a lease is asked for where an append came without an epoch. */
  readonly worker: Worker
  /** The answer of `client.capabilities`. @default asked for once the server can be reached */
  readonly capabilities?: Pick<Capabilities, 'limits' | 'features'>
  /** Goes on with what is appended later, until the signal aborts. @default false */
  readonly follow?: boolean
  readonly signal?: AbortSignal
  readonly onAck?: (answer: AppendAnswer) => void
  /** Told of a run that cannot go on, with the reason: `fenced`, `offset_conflict`, SpoolDamaged … What waits of it stays in the spool. */
  readonly onStop?: (run_id: string, error: unknown) => void
  /** Told when the server cannot be reached for longer than a request is repeated; nothing is given up. */
  readonly onOutage?: (error: unknown) => void
  /** For tests. @default waits */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Runs that are drained side by side; each holds a segment in memory. */
const WIDTH = 4
/** Between two rounds of the client's own attempts. */
const OUTAGE_PAUSE_MS = 10_000

/**
 * Brings what waits in a spool to the server: every run in order, each byte once (P3: what was stored by an append whose
 * answer was lost is found to be there). Resolves when the spool is empty but for runs that stopped, and gives their
 * errors; rejects when the signal aborts.
 */
export const drainSpool = async (
  spool: Spool,
  options: DrainOptions,
): Promise<ReadonlyMap<string, unknown>> => {
  const { signal, follow = false, sleep = pause } = options
  const drain = new Drain(spool, options)
  const wake = () => spool.wake()
  signal?.addEventListener('abort', wake)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const appended = spool.appended()
      if (drain.waiting().length > 0) {
        const outage = await drain.round()
        if (outage) await sleep(OUTAGE_PAUSE_MS, signal)
      } else if (follow && !spool.isClosed) await appended
      else return drain.stopped
    }
  } finally {
    signal?.removeEventListener('abort', wake)
  }
}

class Drain {
  readonly #spool: Spool
  readonly #options: DrainOptions
  readonly stopped = new Map<string, unknown>()
  readonly #epochs = new Map<string, number>()
  #capabilities: DrainOptions['capabilities']
  /** How often each run had been discarded when it was looked at last. */
  readonly #cleared = new Map<string, number>()
  /** Runs that the last attempt at them could not send, for now. */
  readonly #failed = new Set<string>()
  /** How far each run has been sent; its bytes are on the server, whether its segment could be removed yet or not. */
  readonly #sent = new Map<string, number>()

  constructor(spool: Spool, options: DrainOptions) {
    this.#spool = spool
    this.#options = options
    this.#capabilities = options.capabilities
  }

  /** The runs of which something is to be sent. */
  waiting(): readonly string[] {
    for (const run of this.#spool.runs()) this.#forgetDiscarded(run)
    const waits = (run: string) => this.#isBehind(run) || this.#spool.log(run)?.damage !== undefined
    const runs = this.#spool.runs().filter((run) => !this.stopped.has(run) && waits(run))
    // Those that failed last come last, so that a few that are never served do not keep all others back.
    return runs.sort((a, b) => Number(this.#failed.has(a)) - Number(this.#failed.has(b)))
  }

  /** Everything that waits now; ends early, with the reason, when the server cannot be reached. */
  async round(): Promise<unknown> {
    let outage: unknown
    const runs = this.waiting().values()
    const worker = async () => {
      for (const run of runs) {
        if (outage) return
        outage = await this.#attempt(run)
      }
    }
    await Promise.all(Array.from({ length: WIDTH }, worker))
    return outage
  }

  /** Gives the reason when the server cannot be reached. */
  async #attempt(run_id: string): Promise<unknown> {
    const { signal, onOutage, onStop } = this.#options
    try {
      await this.#run(run_id)
      this.#failed.delete(run_id)
      return undefined
    } catch (error) {
      if (signal?.aborted) throw error
      if (mayPass(error)) {
        this.#failed.add(run_id)
        onOutage?.(error)
        return error
      }
      this.stopped.set(run_id, error)
      onStop?.(run_id, error)
      return undefined
    }
  }

  /** Whether something is on the disk that has not been sent; a segment stays a while longer when it is being written. */
  #isBehind(run_id: string): boolean {
    return (this.#spool.log(run_id)?.durableEnd ?? 0) > (this.#sent.get(run_id) ?? 0)
  }

  /** A run that was discarded begins anew, wherever it had come to, and whatever had stopped it. */
  #forgetDiscarded(run_id: string): void {
    const cleared = this.#spool.log(run_id)?.cleared ?? 0
    if (cleared === (this.#cleared.get(run_id) ?? 0)) return
    this.#cleared.set(run_id, cleared)
    this.#sent.delete(run_id)
    this.#epochs.delete(run_id)
    this.stopped.delete(run_id)
  }

  /** Sends what waits of a run, and frees its room as it is acknowledged. */
  async #run(run_id: string): Promise<void> {
    const log = this.#spool.log(run_id)
    if (!log) return
    const { cleared } = log
    while (this.#isBehind(run_id)) {
      const oldest = await log.oldest()
      if (!oldest) break
      let tail = oldest.start
      for (const { epoch, bytes } of mergeRecords(oldest.records)) {
        const rest = bytes.subarray(Math.max(0, (this.#sent.get(run_id) ?? 0) - tail))
        tail += bytes.length
        if (rest.length === 0) continue
        await this.#send(run_id, tail - rest.length, epoch || (await this.#epochOf(run_id)), rest)
        // It was discarded meanwhile: what waits now is not what was sent.
        if (log.cleared !== cleared) return
        this.#sent.set(run_id, tail)
      }
      if (oldest.damage) throw oldest.damage
      await log.dropTo(tail)
    }
    if (log.damage) throw log.damage
  }

  async #send(run: string, start: number, epoch: number, bytes: Uint8Array): Promise<void> {
    const { client, signal, onAck } = this.#options
    this.#capabilities ??= await client.capabilities()
    const { limits, features } = this.#capabilities
    const source = {
      end: start + bytes.length,
      read: async (from: number, to: number) => bytes.subarray(from - start, to - start),
      digest: async () => undefined,
    }
    const uploads = features.includes('uploads')
    await sendArchive(client, {
      run,
      epoch,
      tail: start,
      source,
      limits,
      uploads,
      ...(onAck && { onAck }),
      ...(signal && { signal }),
    })
  }

  async #epochOf(run_id: string): Promise<number> {
    const known = this.#epochs.get(run_id)
    if (known !== undefined) return known
    const { epoch } = await this.#options.client.acquire(run_id, this.#options.worker)
    this.#epochs.set(run_id, epoch)
    return epoch
  }
}
