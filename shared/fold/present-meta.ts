import type { Raw } from '../codec/index.ts'
import { hold, pickMeta } from '../codec/index.ts'
import type { Int, RunMeta, RunStatus } from '../schema/index.ts'
import { runMeta } from '../schema/index.ts'

/**
 * The newest RunMeta with the status a StatusChanged put over it. Metas are carried as bytes and many are never looked
 * at, so both decoding and writing the replaced status wait until someone asks, and happen once.
 */
export class PresentMeta {
  readonly #written: Raw<RunMeta>
  readonly #status: RunStatus | undefined
  #raw: Raw<RunMeta> | undefined
  #facts: { readonly status: RunStatus; readonly iteration: Int } | undefined

  constructor(written: Raw<RunMeta>, status?: RunStatus) {
    this.#written = written
    this.#status = status
  }

  withStatus(status: RunStatus): PresentMeta {
    return new PresentMeta(this.#written, status)
  }

  get raw(): Raw<RunMeta> {
    if (this.#status === undefined) return this.#written
    this.#raw ??= hold(runMeta, { ...this.#written.read(), status: this.#status })
    return this.#raw
  }

  /** What summaries and the pending batch need of it. */
  get facts(): { readonly status: RunStatus; readonly iteration: Int } {
    if (!this.#facts) {
      const { status, iteration } = pickMeta(this.#written, 'status', 'iteration')
      this.#facts = { status: this.#status ?? status, iteration }
    }
    return this.#facts
  }
}
