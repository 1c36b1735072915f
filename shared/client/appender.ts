import { PREAMBLE, PREAMBLE_BYTES, walkFrames } from '../codec/index.ts'
import type { AppendAnswer, Capabilities, LeaseAnswer } from '../schema/index.ts'
import { type AppendSource, sendArchive } from './append.ts'
import { Backlog } from './backlog.ts'
import type { Client } from './http.ts'
import { mayPass, pause } from './retry.ts'

export interface AppenderOptions {
  readonly client: Client
  readonly run: string
  /** The answer of `client.acquire`: the epoch to write under, and where the archive ends. */
  readonly lease: Pick<LeaseAnswer, 'epoch' | 'tail' | 'lease'>
  /** The answer of `client.capabilities`: what fits into a batch, and whether larger frames can be uploaded. */
  readonly capabilities: Pick<Capabilities, 'limits' | 'features'>
  /** Sent as soon as so many bytes wait; a batch is no larger, but for a frame that is. @default 4 MiB */
  readonly batchBytes?: number
  /** Sent as soon as so many writes wait. @default 1000 */
  readonly batchWrites?: number
  /** Otherwise sent when the first of them has waited so long, in milliseconds. @default 20 */
  readonly lingerMs?: number
  /** `write` resolves only while no more than this waits in memory. @default 16 MiB */
  readonly bufferBytes?: number
  /** Where acknowledged bytes can be had again, if a server comes back with less than it had. */
  readonly earlier?: Pick<AppendSource, 'read' | 'digest'>
  readonly onAck?: (answer: AppendAnswer) => void
  /** Told when the server cannot be reached for longer than a request is repeated; nothing is given up. */
  readonly onOutage?: (error: unknown) => void
  /** Ends everything at once; what is not acknowledged then is the caller's to keep. */
  readonly signal?: AbortSignal
  /** Waits, and a time that never jumps; for tests. */
  readonly timing?: Timing
}

interface Timing {
  /** Milliseconds. */
  now(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

// Measured by `npm run bench -- pipeline`: 4 MiB carry half as much again as 1 MiB and five times as much as 64 KiB; a linger of
// 20 ms makes one append of a daemon's turn instead of two and is over before they would be, one of 100 ms saves no more.
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_WRITES = 1000
const LINGER_MS = 20
const BUFFER_BYTES = 16 * 1024 * 1024
/** Between two rounds of the client's own attempts. */
const OUTAGE_PAUSE_MS = 10_000
const RENEW_AT = 0.5

const REAL: Timing = { now: () => performance.now(), sleep: pause }

/**
 * Writes to one run as its owner: gathers frames into batches, one on its way at a time, and holds the lease meanwhile. What
 * the network does is its own business: lost answers, `gap`, `overlap`, `slow_down` and `unavailable` only cost time. It stops
 * for good at what no repetition mends (`fenced`, `offset_conflict` …): then every call rejects with that error and its facts.
 *
 * Positions are archive offsets; a write is durable once `tail` has reached its end, which `flush` waits for.
 */
export const openAppender = (options: AppenderOptions): Appender => new Appender(options)

export class Appender {
  readonly #options: AppenderOptions
  readonly #backlog: Backlog
  readonly #timing: Timing
  readonly #done: Promise<void>
  /** Who waits for room, for an acknowledgement, or for something to do; each looks again at every change. */
  #waiting: (() => void)[] = []
  #wake: () => void = () => undefined
  #failure: { readonly error: unknown } | undefined
  #isClosing = false
  /** Sending does not linger before this position is acknowledged. */
  #hurryTo = 0
  /** When the first of what waits was written. */
  #waitsSince = 0
  #renewAt: number

  constructor(options: AppenderOptions) {
    this.#options = options
    this.#timing = options.timing ?? REAL
    this.#backlog = new Backlog(options.lease.tail)
    this.#renewAt = this.#renewal()
    this.#done = this.#work()
  }

  /** Where the next write will stand. */
  get end(): number {
    return this.#backlog.end
  }

  /** The server has acknowledged everything before this. */
  get tail(): number {
    return this.#backlog.start
  }

  /**
   * Takes whole frames, which must not be changed afterwards; before the first of a run the preamble is put where it is
   * missing. Resolves when there is room for more, not when they are sent.
   *
   * @throws bad_frames when they are not whole, and then takes nothing
   */
  async write(frames: Uint8Array): Promise<void> {
    this.#check()
    if (this.#isClosing) throw new Error('the appender is closed')
    const isBare = this.end === 0 && !startsWithPreamble(frames)
    checkFrames(frames, this.end === 0 && !isBare ? PREAMBLE_BYTES : 0)
    if (this.#backlog.bytes === 0) this.#waitsSince = this.#timing.now()
    if (isBare) this.#backlog.add(PREAMBLE)
    this.#backlog.add(frames)
    this.#wake()
    const { bufferBytes = BUFFER_BYTES } = this.#options
    await this.#until(() => this.#backlog.bytes <= bufferBytes)
  }

  /** Resolves when everything written so far is acknowledged. */
  async flush(): Promise<void> {
    const { end } = this
    this.#hurryTo = Math.max(this.#hurryTo, end)
    this.#wake()
    await this.#until(() => this.tail >= end)
  }

  /** Flushes, and ends. The lease stays with the caller. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.flush()
    this.#wake()
    await this.#done
  }

  async #work(): Promise<void> {
    const { signal } = this.#options
    const stop = () => this.#fail(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    try {
      while (!this.#failure && !(this.#isClosing && this.#backlog.bytes === 0)) {
        const lingerMs = this.#lingerMs()
        if (this.#backlog.bytes === 0) await this.#idle()
        else if (lingerMs > 0) await this.#sleep(lingerMs)
        else await this.#sendAll()
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /** How long what waits may wait for more. */
  #lingerMs(): number {
    const { batchBytes = BATCH_BYTES, batchWrites = BATCH_WRITES, lingerMs = LINGER_MS } = this.#options
    const { bytes, pieces } = this.#backlog
    const isGathered = bytes >= batchBytes || pieces >= batchWrites || this.#hurryTo > this.tail
    return isGathered ? 0 : this.#waitsSince + lingerMs - this.#timing.now()
  }

  async #sendAll(): Promise<void> {
    const {
      client,
      run,
      lease,
      capabilities,
      batchBytes = BATCH_BYTES,
      onAck,
      onOutage,
      signal,
    } = this.#options
    const began = this.#timing.now()
    try {
      await sendArchive(client, {
        run,
        epoch: lease.epoch,
        tail: this.tail,
        source: this.#source(),
        limits: capabilities.limits,
        uploads: capabilities.features.includes('uploads'),
        batchBytes,
        onAck: (answer) => {
          this.#backlog.dropTo(answer.tail)
          this.#renewAt = this.#renewal()
          this.#changed()
          onAck?.(answer)
        },
        ...(signal && { signal }),
      })
      // What was written meanwhile has waited since then at the most.
      this.#waitsSince = began
    } catch (error) {
      if (this.#failure || !mayPass(error)) throw error
      onOutage?.(error)
      await this.#timing.sleep(OUTAGE_PAUSE_MS, signal)
    }
  }

  /** What waits, as it is now; behind it, what the caller can give again. */
  #source(): AppendSource {
    const backlog = this.#backlog
    const { earlier } = this.#options
    return {
      end: backlog.end,
      read: async (start, end) => {
        if (start >= backlog.start || !earlier) return backlog.slice(start, end)
        const before = await earlier.read(start, Math.min(end, backlog.start))
        const whole = new Uint8Array(end - start)
        whole.set(before)
        if (start + before.length < end) whole.set(backlog.slice(start + before.length, end), before.length)
        return whole
      },
      digest: async (end) => (end <= backlog.start ? earlier?.digest(end) : undefined),
    }
  }

  async #idle(): Promise<void> {
    await this.#sleep(this.#renewAt - this.#timing.now())
    // What was written meanwhile is sent, which renews the lease by itself.
    const isIdle = this.#backlog.bytes === 0 && !this.#isClosing && !this.#failure
    if (!isIdle || this.#timing.now() < this.#renewAt) return
    const { client, run, lease } = this.#options
    this.#renewAt = this.#renewal()
    const renewed = client.renew(run, { epoch: lease.epoch }).catch((error: unknown) => {
      if (!mayPass(error)) this.#fail(error)
    })
    // Whatever becomes of it, nothing that is written, and no closing, waits for it.
    await Promise.race([renewed, this.#awaken()])
  }

  #renewal(): number {
    return this.#timing.now() + this.#options.lease.lease.ttl_s * 1000 * RENEW_AT
  }

  /** Ends early when there is something to do. */
  async #sleep(ms: number): Promise<void> {
    const awake = new AbortController()
    void this.#awaken().then(() => awake.abort())
    if (this.#failure) return
    await this.#timing.sleep(Math.max(0, ms), awake.signal).catch(() => undefined)
    this.#wake = () => undefined
  }

  /** Resolves when there is something to do. */
  #awaken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (this.#check(); !isSo(); this.#check()) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error
  }

  #changed(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const look of waiting) look()
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#wake()
    this.#changed()
  }
}

const startsWithPreamble = (bytes: Uint8Array): boolean =>
  bytes.length >= 4 && PREAMBLE.subarray(0, 4).every((byte, i) => bytes[i] === byte)

const checkFrames = (bytes: Uint8Array, skip: number): void => {
  for (const _ of walkFrames(bytes.subarray(skip))) {
    // Walking them is the check.
  }
}
