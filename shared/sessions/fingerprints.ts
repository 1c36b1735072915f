// Which names a transcript has had, in 8 bytes each. Two names share a fingerprint of 64 bits once in 10^11 among a million.

const FIRST_SLOTS = 64

/** A set of texts that numbers them in the order in which they came. */
export class Fingerprints {
  /** Two words a name, in order. */
  #words = new Uint32Array(2 * FIRST_SLOTS)
  /** Open addressing; 0 is empty, else the number plus one. */
  #slots = new Uint32Array(2 * FIRST_SLOTS)
  #count = 0

  get size(): number {
    return this.#count
  }

  has(text: string): boolean {
    const [low, high] = fingerprint(text)
    return this.#slots[this.#slotOf(low, high)] !== 0
  }

  /** The number of the text, from 0; that of a new one is the size before. */
  add(text: string): number {
    const [low, high] = fingerprint(text)
    const slot = this.#slotOf(low, high)
    const known = this.#slots[slot] as number
    return known === 0 ? this.#insert(low, high, slot) : known - 1
  }

  /** All of them in order, 8 bytes each, for `Fingerprints.from`. */
  bytes(): Uint8Array {
    const bytes = new Uint8Array(8 * this.#count)
    const view = new DataView(bytes.buffer)
    for (let i = 0; i < 2 * this.#count; i++) view.setUint32(4 * i, this.#words[i] as number, true)
    return bytes
  }

  static from(bytes: Uint8Array): Fingerprints {
    const all = new Fingerprints()
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      const low = view.getUint32(at, true)
      const high = view.getUint32(at + 4, true)
      all.#insert(low, high, all.#slotOf(low, high))
    }
    return all
  }

  #insert(low: number, high: number, slot: number): number {
    const number = this.#count++
    if (2 * number === this.#words.length) this.#words = grown(this.#words)
    this.#words[2 * number] = low
    this.#words[2 * number + 1] = high
    this.#slots[slot] = number + 1
    if (2 * this.#count > this.#slots.length) this.#rehash()
    return number
  }

  /** Where the fingerprint stands, or would. */
  #slotOf(low: number, high: number): number {
    const mask = this.#slots.length - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const known = this.#slots[slot] as number
      if (known === 0) return slot
      if (this.#words[2 * known - 2] === low && this.#words[2 * known - 1] === high) return slot
    }
  }

  #rehash(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length)
    for (let number = 0; number < this.#count; number++) {
      const low = this.#words[2 * number] as number
      const high = this.#words[2 * number + 1] as number
      this.#slots[this.#slotOf(low, high)] = number + 1
    }
  }
}

function grown(words: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * words.length)
  larger.set(words)
  return larger
}

/** Two words of two different mixings, each of which sees every letter (murmur's constants). */
function fingerprint(text: string): readonly [number, number] {
  let low = 0x9e3779b9
  let high = 0x7f4a7c15
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    low = Math.imul(low ^ code, 0x85ebca6b)
    low ^= low >>> 15
    high = Math.imul(high ^ code, 0xc2b2ae35)
    high ^= high >>> 13
  }
  low = mixed(low ^ text.length)
  high = mixed(high ^ Math.imul(low, 0x9e3779b1))
  return [low >>> 0, high >>> 0]
}

function mixed(word: number): number {
  let h = word
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
