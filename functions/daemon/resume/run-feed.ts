import { type Client, sendArchive } from '#client'
import { type Capabilities, RunfoldError } from '#schema'
import { surveyFrames } from '../survey.ts'
import { ArchiveFile, NO_PREFIX, type Prefix } from '../watch/archive-file.ts'

export interface FeedOptions {
  readonly client: Client
  readonly limits: Capabilities['limits']
  readonly uploads: boolean
  readonly run: string
  readonly epoch: number
  /** The run's archive on this machine; it need not be there yet. */
  readonly path: string
  readonly signal: AbortSignal
}

/** What the server has of a file's first bytes. */
interface Sent {
  readonly tail: number
  readonly digest: string
}

/** Sends what one file gains, under one epoch and no other: whoever has lost the run is told so by the next append. */
export class RunFeed {
  readonly #options: FeedOptions
  #sent: Prefix

  private constructor(options: FeedOptions, sent: Prefix) {
    this.#options = options
    this.#sent = sent
  }

  /** Undefined where the file does not begin with what the server has. */
  static async open(options: FeedOptions, { tail, digest }: Sent): Promise<RunFeed | undefined> {
    if (tail === 0) return new RunFeed(options, NO_PREFIX)
    const file = await ArchiveFile.open(options.path, NO_PREFIX)
    if (!file) return undefined
    try {
      const prefix = file.end < tail ? undefined : await file.prefixTo(tail)
      return prefix?.digest === digest ? new RunFeed(options, prefix) : undefined
    } finally {
      await file.close()
    }
  }

  get sent(): Sent {
    return { tail: this.#sent.end, digest: this.#sent.digest }
  }

  /**
   * Sends the whole frames that have come.
   *
   * @param isFinal nothing more will be written, so what stands at the end is no frame under way
   * @throws fenced; offset_conflict where bytes that were sent have been changed; unavailable, after which it may be called again
   */
  async send(isFinal: boolean): Promise<void> {
    const { path } = this.#options
    const file = await ArchiveFile.open(path, this.#sent)
    if (!file) return
    try {
      if (file.end === this.#sent.end) return
      if (file.end < this.#sent.end || !(await file.hasEdgeOf(this.#sent))) {
        throw new RunfoldError('offset_conflict', `bytes of ${path} that were sent have been changed`, {
          ...this.sent,
        })
      }
      const { end, certain } = await surveyFrames(file.chunks(this.#sent.end, file.end), this.#sent.end)
      await this.#sendTo(file, isFinal ? end : certain)
    } finally {
      await file.close()
    }
  }

  async #sendTo(file: ArchiveFile, end: number): Promise<void> {
    const { end: tail } = this.#sent
    if (end <= tail) return
    const source = file.as({ end })
    const last = await sendArchive(this.#options.client, { ...this.#options, tail, source })
    const sent = await source.prefixTo(end)
    if (last?.digest !== sent.digest)
      throw new RunfoldError('offset_conflict', 'the file was changed while it was sent', {
        tail: last?.tail,
      })
    this.#sent = sent
  }
}
