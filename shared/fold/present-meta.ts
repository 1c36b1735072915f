import type { HeldRecord, Raw } from '../codec/index.ts'
import { hold, pickMeta, waitingBytes } from '../codec/index.ts'
import type { Int, RunMeta, RunStatus } from '../schema/index.ts'
import { runMeta } from '../schema/index.ts'

/** What summaries and the pending batch need of a RunMeta. */
interface MetaFacts {
  readonly status: RunStatus
  readonly iteration: Int
}

/**
 * The newest RunMeta with the status a StatusChanged put over it. Metas are carried as bytes and many are never looked
 * at, so both decoding and writing the replaced status wait until someone asks, and happen once.
 */
export class PresentMeta {
  #written: Raw<RunMeta> | undefined
  /** The record it stands in, until someone asks. */
  #record: { readonly meta: Raw<RunMeta> } | undefined
  readonly #status: RunStatus | undefined
  #raw: Raw<RunMeta> | undefined
  #facts: MetaFacts | undefined

  private constructor(record: { readonly meta: Raw<RunMeta> }, status?: RunStatus, facts?: MetaFacts) {
    this.#record = record
    this.#status = status
    this.#facts = facts
  }

  /** The meta of a record, which may wait to be read. */
  static of(record: HeldRecord & { readonly meta: Raw<RunMeta> }): PresentMeta {
    // Nothing else of a record that was read is kept.
    return new PresentMeta(waitingBytes(record) > 0 ? record : { meta: record.meta })
  }

  withStatus(status: RunStatus): PresentMeta {
    return new PresentMeta(
      this.#record ?? { meta: this.#meta },
      status,
      this.#facts && { ...this.#facts, status },
    )
  }

  get #meta(): Raw<RunMeta> {
    if (this.#written === undefined) {
      this.#written = (this.#record as { meta: Raw<RunMeta> }).meta
      this.#record = undefined
    }
    return this.#written
  }

  /** The meta as it is now, canonical bytes. */
  get raw(): Raw<RunMeta> {
    if (this.#status === undefined) return this.#meta
    this.#raw ??= hold(runMeta, { ...this.#meta.read(), status: this.#status })
    return this.#raw
  }

  /** What summaries need of it, without decoding the rest. */
  get facts(): MetaFacts {
    if (!this.#facts) {
      const { status, iteration } = pickMeta(this.#meta, 'status', 'iteration')
      this.#facts = { status: this.#status ?? status, iteration }
    }
    return this.#facts
  }
}
