import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { decodeSparse, encodeSparse, hasSparse, mergedSparse } from './sparse-set.ts'
import type { SavedMap, StateWriter } from './state.ts'

// Which names a transcript has had: 8 bytes each, where two names share a fingerprint once in 10^11 among a million. A state
// keeps the newest ones so, and of older ones 36 bits: it says surely that a name is none of them, never that it is one.

/** So many names a state keeps exactly. */
const RECENT = 16_384

const FIRST_SLOTS = 64
/** How full the slots get before there are twice as many. */
const FULL = 3 / 4
const GROWTH = 1.5
const HIGH_BITS = 0x0f

/**
 * A name may be one of long ago, of which only a part is known: going on would be a guess. Whoever meets this begins anew, and
 * knows all names exactly.
 */
export class Doubt extends Error {}

/** A set of texts that numbers them in the order in which they came. */
export class Fingerprints {
  /** Sorted; those of the names that no state has kept exactly. */
  #old: Float64Array = new Float64Array(0)
  #oldCount = 0
  /** Two words a name, in order. */
  #words = new Uint32Array(2 * FIRST_SLOTS)
  /** Open addressing; 0 is empty, else the number plus one. */
  #slots = new Uint32Array(2 * FIRST_SLOTS)
  #count = 0

  get size(): number {
    return this.#oldCount + this.#count
  }

  /** @throws Doubt */
  has(text: string): boolean {
    const print = fingerprint(text)
    return this.#slots[this.#slotOf(print)] !== 0 || this.#isOld(print)
  }

  /**
   * The number of the text among those known exactly, from 0, newest last.
   *
   * @throws Doubt
   */
  add(text: string): number {
    const print = fingerprint(text)
    const slot = this.#slotOf(print)
    const known = this.#slots[slot] as number
    if (known !== 0) return known - 1
    this.#isOld(print)
    return this.#insert(print, slot)
  }

  /** The first number that a state keeps; it will be 0. */
  get keptFrom(): number {
    return Math.max(0, this.#count - RECENT)
  }

  save(out: StateWriter): unknown {
    const from = this.keptFrom
    const older = new Float64Array(from)
    for (let number = 0; number < from; number++) older[number] = sparse(this.#print(number))
    const bytes = new Uint8Array(8 * (this.#count - from))
    const view = new DataView(bytes.buffer)
    for (let word = 2 * from; word < 2 * this.#count; word++) {
      view.setUint32(4 * (word - 2 * from), this.#words[word] as number, true)
    }
    const old = out.blob(encodeSparse(mergedSparse(this.#old, older)))
    return { old_count: this.#oldCount + from, old, recent: out.blob(bytes) }
  }

  static load(saved: SavedMap): Fingerprints {
    const all = new Fingerprints()
    all.#old = decodeSparse(saved.blob('old'))
    all.#oldCount = saved.int('old_count')
    const bytes = saved.blob('recent')
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      const print: Fingerprint = [view.getUint32(at, true), view.getUint32(at + 4, true)]
      all.#insert(print, all.#slotOf(print))
    }
    return all
  }

  /** False, or else not to be known. */
  #isOld(print: Fingerprint): false {
    if (hasSparse(this.#old, sparse(print))) throw new Doubt('perhaps a name of long ago')
    return false
  }

  #print(number: number): Fingerprint {
    return [this.#words[2 * number] as number, this.#words[2 * number + 1] as number]
  }

  #insert(print: Fingerprint, slot: number): number {
    const number = this.#count++
    if (2 * number + 1 >= this.#words.length)
      this.#words = lengthened(this.#words, Math.ceil(GROWTH * this.#words.length))
    this.#words.set(print, 2 * number)
    this.#slots[slot] = number + 1
    if (this.#count > FULL * this.#slots.length) this.#rehash()
    return number
  }

  /** Where the fingerprint stands, or would. */
  #slotOf([low, high]: Fingerprint): number {
    const mask = this.#slots.length - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const known = this.#slots[slot] as number
      if (known === 0) return slot
      if (this.#words[2 * known - 2] === low && this.#words[2 * known - 1] === high) return slot
    }
  }

  #rehash(): void {
    this.#slots = lengthened(this.#slots, 2 * this.#slots.length).fill(0)
    for (let number = 0; number < this.#count; number++) {
      this.#slots[this.#slotOf(this.#print(number))] = number + 1
    }
  }
}

/** The memory moves along: what was outgrown would wait for the collector, which hardly sees it. */
function lengthened(words: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(words.buffer.transfer(4 * length))
}

/** What a sparse set keeps of it: 36 bits. */
function sparse([low, high]: Fingerprint): number {
  return (high & HIGH_BITS) * 2 ** 32 + low
}
