import { type AppendSource, type Client, type RunTail, sendArchive } from '#client'
import { type Capabilities, isRunfoldError, RunfoldError, type Worker } from '#schema'
import { download } from '../pull/download.ts'

export interface CopyOptions {
  readonly from: Client
  readonly to: Client
  /** Of the server that is copied to. */
  readonly limits: Capabilities['limits']
  readonly uploads: boolean
  readonly worker: Worker
  readonly run: string
  readonly force?: boolean
  readonly signal: AbortSignal
  /** Told where sending begins, how far it is, and when it is over. */
  readonly progress: (from: number, end: number) => { at(position: number): void; stop(): void }
}

export interface Copied {
  readonly run_id: string
  /** `ahead`: the other server has more, of which this is the beginning. */
  readonly outcome: 'copied' | 'unchanged' | 'ahead'
  /** Where the archive ended there before, and ends now. */
  readonly from: number
  readonly tail: number
  readonly digest: string
}

const EMPTY = { tail: 0, digest: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' }
/** How long a release may take when the copy itself was interrupted. */
const RELEASE_MS = 3000

/**
 * Brings a run on one server up to what another has of it, byte for byte: compares what both have, takes the lease there,
 * sends the rest, compares again, gives the lease back. Rejects with offset_conflict, before anything is sent, where they
 * differ.
 */
export const copyRun = async (options: CopyOptions): Promise<Copied> => {
  const { from, to, run, worker, force } = options
  const source = new RunSource(from, run, await from.run(run))
  const known = await to.tail(run).catch(absent)
  await compare(options, source, known ?? EMPTY)
  if (known && source.end <= known.tail) return copied(options, source, known, known)

  const held = await to.acquire(run, { ...worker, ...(force && { force }) })
  try {
    if (held.tail !== (known?.tail ?? 0)) await compare(options, source, held)
    if (source.end <= held.tail) return copied(options, source, held, held)
    return copied(options, source, held, await send(options, source, held))
  } finally {
    // A lease that cannot be given back ends by itself.
    await to.release(run, held.epoch, AbortSignal.timeout(RELEASE_MS)).catch(() => undefined)
  }
}

/** An archive on a server as something to send. It may grow meanwhile; what there was at first is copied. */
class RunSource implements AppendSource {
  readonly #client: Client
  readonly #run: string
  readonly #digest: string
  readonly end: number

  constructor(client: Client, run: string, { tail, digest }: RunTail) {
    this.#client = client
    this.#run = run
    this.#digest = digest
    this.end = tail
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(end - start)
    const write = async (chunk: Uint8Array, at: number) => bytes.set(chunk, at - start)
    await download({ client: this.#client, run: this.#run, from: start, tail: end, write })
    return bytes
  }

  /** Undefined where no frame ends there, so that it cannot be a beginning of this archive. */
  async digestAt(end: number): Promise<string | undefined> {
    if (end === 0) return EMPTY.digest
    if (end === this.end) return this.#digest
    return verifiedDigest(this.#client, this.#run, end)
  }

  async digest(end: number): Promise<string> {
    return (await this.digestAt(end)) ?? ''
  }
}

/** Of the first bytes of a run as the server reads them. */
const verifiedDigest = async (client: Client, run: string, end: number): Promise<string | undefined> => {
  try {
    return (await client.verify(run, { to: end })).digest
  } catch (error) {
    if (isRunfoldError(error, 'bad_request')) return undefined
    throw error
  }
}

/** Whether the shorter of the two archives is the beginning of the longer one. */
const compare = async (
  { to, run }: CopyOptions,
  source: RunSource,
  { tail, digest }: Pick<RunTail, 'tail' | 'digest'>,
): Promise<void> => {
  const end = Math.min(tail, source.end)
  const there = end === tail ? digest : await verifiedDigest(to, run, end)
  if (there !== undefined && there === (await source.digestAt(end))) return
  const text = `the first ${end} bytes of ${run} on the two servers differ; nothing was sent`
  throw new RunfoldError('offset_conflict', text, { bytes: end, run_id: run })
}

const send = async (
  { to, run, limits, uploads, signal, progress }: CopyOptions,
  source: RunSource,
  { tail, epoch }: { readonly tail: number; readonly epoch: number },
): Promise<Pick<RunTail, 'tail' | 'digest'>> => {
  const shown = progress(tail, source.end)
  try {
    const last = await sendArchive(to, {
      run,
      epoch,
      tail,
      source,
      limits,
      uploads,
      signal,
      onAck: (answer) => shown.at(answer.tail),
      onSent: (position) => shown.at(position),
    })
    if (last && last.tail === source.end && last.digest === (await source.digest(source.end))) return last
    throw new RunfoldError('internal', `after the copy the digests of ${run} on the two servers differ`)
  } finally {
    shown.stop()
  }
}

const copied = (
  { run }: CopyOptions,
  { end }: RunSource,
  before: { readonly tail: number },
  now: Pick<RunTail, 'tail' | 'digest'>,
): Copied => ({
  run_id: run,
  outcome: end < now.tail ? 'ahead' : now.tail > before.tail ? 'copied' : 'unchanged',
  from: before.tail,
  tail: now.tail,
  digest: now.digest,
})

const absent = (error: unknown): undefined => {
  if (!isRunfoldError(error, 'not_found')) throw error
}
