import { Kernel } from './kernel.ts'
import { nextMark } from './letters.ts'

// Where the items of a list end, found by quotes, backslashes and brackets alone: what else stands in valid JSON need not
// be looked at to go over it.

/** The bits in which brackets differ, what they are with them, and the one that only those that open have. */
const DIFFER = 0x26
const ALIKE = 0x7f
const OPENS = 2

/** Finds ends in one text of valid JSON. Of any other text it says something, but it ends and reads nothing beyond it. */
export class Ends {
  readonly #bytes: Uint8Array
  readonly #kernel: Kernel | undefined
  #text = 0
  #list: ArrayLike<number> = []

  constructor(bytes: Uint8Array, plain = false) {
    this.#bytes = bytes
    this.#kernel = plain ? undefined : Kernel.for(bytes)
  }

  /** How many arrays and objects stood right in the one that `find` went over. */
  count = -1

  /** Goes over the array or object that opens at `at`; says whether it is closed. */
  find(at: number): boolean {
    this.count = (this.#kernel ? this.#findThere(this.#kernel, at) : this.#findHere(at)) - 1
    return this.count >= 0
  }

  /** The position behind item n; behind the whole for n the count. */
  end(n: number): number {
    return (this.#list[n] as number) + 1
  }

  /** Finds the ends of the array that opens at `at`; says whether nothing but objects and commas is in it. */
  isOfObjects(at: number): boolean {
    if (!this.find(at)) return false
    const { count } = this
    const bytes = this.#bytes
    let next = at + 1
    for (let n = 0; n < count; n++) {
      const end = this.end(n)
      if (bytes[next] !== 0x7b || bytes[end] !== (n + 1 < count ? 0x2c : 0x5d)) return false
      next = end + 1
    }
    return count > 0 || bytes[next] === 0x5d
  }

  #findThere(kernel: Kernel, at: number): number {
    this.#text = kernel.take(this.#bytes, this.#text)
    this.#list = kernel.ends
    return kernel.findEnds(at, this.#bytes.length)
  }

  #findHere(at: number): number {
    const bytes = this.#bytes
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const list: number[] = []
    this.#list = list
    for (let depth = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number
      if (byte === 0x22) at = endOfString(bytes, view, at)
      else if (byte === 0x5c) at += isMark(bytes[at + 1]) ? 1 : 0
      else if ((byte | DIFFER) === ALIKE) {
        depth += (byte & OPENS) - 1
        if ((byte & OPENS) === 0 && depth <= 1) list.push(at)
        if (depth === 0) return list.length
      }
    }
    return 0
  }
}

const isMark = (byte: number | undefined) => byte === 0x22 || byte === 0x5c

/** Where the quote stands that ends the string that begins here; the end where none does. */
function endOfString(bytes: Uint8Array, view: DataView, at: number): number {
  at = nextMark(view, at + 1)
  while (bytes[at] === 0x5c) at = nextMark(view, Math.min(at + 2, bytes.length))
  return at
}
