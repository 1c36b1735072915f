/** Objects with more members than this are checked through a table. */
const PAIRWISE = 16

/** Other in every process, so that no file can be made whose names all meet in one slot. */
const SEED = Math.floor(Math.random() * 2 ** 32)

const NO_TABLE = new Uint32Array(0)

/**
 * Notices a name that occurs twice in one object of free keys; the canonical form holds the last of them only. Keeps
 * positions, not texts: an object of a million members costs a few bytes for each.
 *
 * Names are known by where their opening quote stands; all are canonically escaped, so equal bytes are equal names.
 */
export class Names {
  readonly #bytes: Uint8Array
  readonly #few: number[] = []
  /** Open addressing; 0 is empty, as no name stands at the very beginning. */
  #table = NO_TABLE
  #count = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Says whether the name between these positions, quotes included, was there before. */
  repeats(start: number, end: number): boolean {
    if (this.#table.length > 0) {
      if (2 * this.#count >= this.#table.length) this.#grow()
      return this.#meets(start, end)
    }
    for (const earlier of this.#few) if (this.#same(earlier, start, end)) return true
    this.#few.push(start)
    if (this.#few.length > PAIRWISE) this.#grow()
    return false
  }

  /** Puts the name into the table unless an equal one is there. */
  #meets(start: number, end: number): boolean {
    const mask = this.#table.length - 1
    for (let slot = this.#hash(start) & mask; ; slot = (slot + 1) & mask) {
      const earlier = this.#table[slot] as number
      if (earlier === 0) {
        this.#table[slot] = start
        this.#count++
        return false
      }
      if (this.#same(earlier, start, end)) return true
    }
  }

  #grow(): void {
    const earlier = this.#count === 0 ? this.#few : this.#table
    this.#table = new Uint32Array(Math.max(4 * PAIRWISE, 2 * this.#table.length))
    this.#count = 0
    const mask = this.#table.length - 1
    for (const start of earlier) {
      if (start === 0) continue
      let slot = this.#hash(start) & mask
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask
      this.#table[slot] = start
      this.#count++
    }
  }

  /** FNV-1a over the name's bytes up to its closing quote. */
  #hash(start: number): number {
    let hash = SEED
    for (let at = start + 1; this.#bytes[at] !== 0x22; at++) {
      if (this.#bytes[at] === 0x5c) at++
      hash = Math.imul(hash ^ (this.#bytes[at] as number), 0x01000193)
    }
    return hash ^ (hash >>> 15)
  }

  #same(earlier: number, start: number, end: number): boolean {
    for (let i = 0; i < end - start; i++)
      if (this.#bytes[earlier + i] !== this.#bytes[start + i]) return false
    return true
  }
}
