/**
 * A persistent list that only grows. Versions share one backing array: appending to the newest version writes behind
 * the end of every older one, so a replay of N points keeps each entry once and N lengths, never N windows.
 * Appending to an older version (two futures of one past) copies its part first. O(1) amortized per item.
 */
export class AppendList<T> implements Iterable<T> {
  readonly length: number
  readonly #shared: T[]

  private constructor(shared: T[], length: number) {
    this.#shared = shared
    this.length = length
  }

  static of<T>(items: Iterable<T>): AppendList<T> {
    const own = [...items]
    return new AppendList(own, own.length)
  }

  append(items: readonly T[]): AppendList<T> {
    if (items.length === 0) return this
    const isNewest = this.#shared.length === this.length
    const shared = isNewest ? this.#shared : this.#shared.slice(0, this.length)
    for (const item of items) shared.push(item)
    return new AppendList(shared, shared.length)
  }

  at(index: number): T | undefined {
    return index >= 0 && index < this.length ? this.#shared[index] : undefined
  }

  /** The items from `start` on, as an array of one's own. */
  from(start: number): T[] {
    return this.#shared.slice(start, this.length)
  }

  /** Whether `other` is a beginning of this list; at once where both share their backing, else item by item. */
  startsWith(other: AppendList<T>, isSame: (a: T, b: T) => boolean): boolean {
    if (other.length > this.length) return false
    if (other.#shared === this.#shared) return true
    for (let i = 0; i < other.length; i++) {
      if (!isSame(this.#shared[i] as T, other.#shared[i] as T)) return false
    }
    return true
  }

  equals(other: AppendList<T>, isSame: (a: T, b: T) => boolean): boolean {
    return this.length === other.length && this.startsWith(other, isSame)
  }

  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.length; i++) yield this.#shared[i] as T
  }
}
