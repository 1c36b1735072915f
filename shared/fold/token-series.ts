import type { Int, Tokens } from '../schema/index.ts'
import { USAGE_BUCKETS_MAX } from '../schema/index.ts'
import { type Counters, TokenSum } from './token-sum.ts'

/**
 * What was used over time, in buckets of one width. It starts at a second and doubles whenever there are too many
 * buckets, so memory is bounded and the sum of all stays exact, in whatever order the times come.
 */
export class TokenSeries {
  #width = 1n
  #buckets = new Map<bigint, TokenSum>()

  /** @param at Unix seconds */
  add(at: Int, used: Counters): void {
    this.#bucket(floor(BigInt(at), this.#width)).add(used)
    while (this.#buckets.size > USAGE_BUCKETS_MAX) this.#widen()
  }

  value(knowsCalls: boolean): { bucket_s: Int; series: (Tokens & { at: Int })[] } {
    const inOrder = [...this.#buckets].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      bucket_s: this.#width,
      series: inOrder.map(([at, sum]) => ({ at, ...sum.value(knowsCalls) })),
    }
  }

  #bucket(at: bigint): TokenSum {
    const bucket = this.#buckets.get(at) ?? new TokenSum()
    this.#buckets.set(at, bucket)
    return bucket
  }

  #widen(): void {
    const narrow = this.#buckets
    this.#width *= 2n
    this.#buckets = new Map()
    for (const [at, sum] of narrow) this.#bucket(floor(at, this.#width)).merge(sum)
  }
}

/** The greatest multiple of the width, a power of two, that is not after `at`. */
const floor = (at: bigint, width: bigint) => at & -width
