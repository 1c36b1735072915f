import { Kernel } from './kernel.ts'

/** A shorter text is checked sooner than it is given to the kernel. */
const FEWEST_BYTES = 128

/** The strings of one text whose letters were all checked at once: well-formed UTF-8, and spelled as a writer spells them. */
export class Quotes {
  readonly #list: Uint32Array
  readonly #count: number
  #next = 0

  private constructor(list: Uint32Array, count: number) {
    this.#list = list
    this.#count = count
  }

  /** Undefined where the letters must be looked at one by one. To be used before another text is. */
  static of(text: Uint8Array): Quotes | undefined {
    const kernel = text.length < FEWEST_BYTES ? undefined : Kernel.for(text)
    if (kernel === undefined) return undefined
    kernel.take(text, 0)
    const count = kernel.findQuotes(text.length)
    return count < 0 ? undefined : new Quotes(kernel.quotes, count)
  }

  /** The position behind the string whose first quote stands at `at`; -1 if none stands there or it does not end. */
  behind(at: number): number {
    const list = this.#list
    let next = this.#next
    if (next > 0 && (list[next - 1] as number) >= at) next = this.#placeOf(at)
    while (next < this.#count && (list[next] as number) < at) next++
    this.#next = next
    return next + 1 < this.#count && list[next] === at ? (list[next + 1] as number) + 1 : -1
  }

  /** The number of the first quote at or behind `at`, for a reader that has gone back. */
  #placeOf(at: number): number {
    let low = 0
    let high = this.#next
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#list[middle] as number) < at) low = middle + 1
      else high = middle
    }
    return low
  }
}
