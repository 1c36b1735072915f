// Numbers below 2^36 as a sorted list of differences in Rice code: a quotient in ones, a zero, and the rest in so many bits.
// A million of them take 2.2 bytes each.
//
//   u32 LE  count     u8  bits of a rest     then for each number   1…1 0 rest   (most significant bit first)

/** What the members are below. */
const SPARSE_BITS = 36

const HEADER_BYTES = 5
const SPAN = 2 ** SPARSE_BITS

/** The members, sorted and each once. */
export function encodeSparse(members: Float64Array): Uint8Array {
  const rest = restBits(members.length)
  const out = new BitWriter(HEADER_BYTES + Math.ceil((members.length * (rest + 3)) / 8))
  let before = 0
  for (const member of members) {
    const gap = member - before
    before = member
    for (let quotient = Math.floor(gap / 2 ** rest); quotient > 0; quotient--) out.bit(1)
    out.bit(0)
    for (let bit = rest - 1; bit >= 0; bit--) out.bit(Math.floor(gap / 2 ** bit) & 1)
  }
  const bytes = out.bytes(HEADER_BYTES)
  new DataView(bytes.buffer).setUint32(0, members.length, true)
  bytes[4] = rest
  return bytes
}

export function decodeSparse(bytes: Uint8Array): Float64Array {
  if (bytes.length < HEADER_BYTES) return new Float64Array(0)
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const rest = bytes[4] as number
  const members = new Float64Array(count)
  let at = 8 * HEADER_BYTES
  const bit = () => ((bytes[at >>> 3] ?? 0) >>> (7 - (at++ & 7))) & 1
  let before = 0
  for (let i = 0; i < count; i++) {
    let gap = 0
    while (bit() === 1) gap++
    for (let left = rest; left > 0; left--) gap = 2 * gap + bit()
    before += gap
    members[i] = before
  }
  return members
}

/** Whether it is one of the sorted members. */
export function hasSparse(members: Float64Array, wanted: number): boolean {
  let low = 0
  let high = members.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((members[middle] as number) < wanted) low = middle + 1
    else high = middle
  }
  return members[low] === wanted
}

/** Both together, sorted and each once. */
export function mergedSparse(sorted: Float64Array, more: Float64Array): Float64Array {
  const all = new Float64Array(sorted.length + more.length)
  all.set(sorted)
  all.set(more, sorted.length)
  all.sort()
  let count = 0
  for (const member of all) if (count === 0 || all[count - 1] !== member) all[count++] = member
  return all.subarray(0, count)
}

/** With the mean difference a little above 2^rest, quotients are of one or two bits. */
function restBits(count: number): number {
  return count === 0 ? 0 : Math.max(0, Math.floor(Math.log2((SPAN * Math.LN2) / count)))
}

class BitWriter {
  #bytes: Uint8Array
  #at: number

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity)
    this.#at = 8 * HEADER_BYTES
  }

  bit(bit: number): void {
    if (this.#at >>> 3 >= this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#bytes.length + 64)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    const index = this.#at >>> 3
    this.#bytes[index] = (this.#bytes[index] as number) | (bit << (7 - (this.#at & 7)))
    this.#at++
  }

  bytes(least: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.slice(0, Math.max(least, (this.#at + 7) >>> 3)))
  }
}
