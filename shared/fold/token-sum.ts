import type { Int, Tokens } from '../schema/index.ts'

const COUNTERS = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'cache_write_tokens'] as const

/** The four counters, wherever they stand. */
export type Counters = Readonly<Record<(typeof COUNTERS)[number], Int>>

/** What some calls have used, exact beyond 2^53. */
export class TokenSum {
  #calls = 0n
  readonly #sums = new Map(COUNTERS.map((name) => [name, 0n]))

  add(used: Counters): void {
    this.#calls++
    for (const name of COUNTERS) this.#grow(name, BigInt(used[name]))
  }

  merge(other: TokenSum): void {
    this.#calls += other.#calls
    for (const [name, sum] of other.#sums) this.#grow(name, sum)
  }

  /** @param knowsCalls false where what was added is not a call each */
  value(knowsCalls: boolean): Tokens {
    const calls = knowsCalls ? this.#calls : null
    return { calls, ...(Object.fromEntries(this.#sums) as Record<(typeof COUNTERS)[number], bigint>) }
  }

  #grow(name: (typeof COUNTERS)[number], by: bigint): void {
    this.#sums.set(name, (this.#sums.get(name) ?? 0n) + by)
  }
}

/** What the counters have grown by; less than nothing where they fell. */
export function grownBy(now: Counters, before: Counters | undefined): Counters {
  const grown = COUNTERS.map((name) => [name, BigInt(now[name]) - BigInt(before?.[name] ?? 0)])
  return Object.fromEntries(grown) as Counters
}
