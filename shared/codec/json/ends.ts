import { nextMark } from './letters.ts'
import { assemble } from './wasm/assemble.ts'
import { ENDS } from './wasm/ends.ts'

// Where the items of a list end, found by quotes, backslashes and brackets alone: what else stands in valid JSON need not
// be looked at to go over it.

/** A text up to this length is copied to the kernel; a longer one is gone over here. */
const KERNEL_BYTES = 4 << 20
/** The kernel looks at blocks of this length. */
const BLOCK_BYTES = 64
const PAGE_BYTES = 65_536
/** Two brackets; in JSON there is a comma too. */
const FEWEST_ITEM_BYTES = 2
/** The bits in which brackets differ, what they are with them, and the one that only those that open have. */
const DIFFER = 0x26
const ALIKE = 0x7f
const OPENS = 2
const ENDS_AT = KERNEL_BYTES + BLOCK_BYTES
const MEMORY_BYTES = ENDS_AT + 4 * (KERNEL_BYTES / FEWEST_ITEM_BYTES + 1)

interface Kernel {
  readonly bytes: Uint8Array
  readonly ends: Uint32Array
  readonly find: (at: number, end: number, out: number) => number
}

/** What is used of WebAssembly, which neither ECMAScript's library nor Node's types declare. */
interface Host {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (
    module: object,
  ) => {
    readonly exports: {
      readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): void }
      readonly ends: Kernel['find']
    }
  }
}

/** Undefined where WebAssembly or its vectors are not to be had, as under a strict content security policy. */
function loadKernel(): Kernel | undefined {
  try {
    const { Module, Instance } = (globalThis as unknown as { WebAssembly: Host }).WebAssembly
    const { memory, ends: find } = new Instance(new Module(assemble(ENDS))).exports
    memory.grow(Math.ceil(MEMORY_BYTES / PAGE_BYTES) - 1)
    return { bytes: new Uint8Array(memory.buffer), ends: new Uint32Array(memory.buffer, ENDS_AT), find }
  } catch {
    return undefined
  }
}

let kernel: Kernel | undefined | null = null
/** Whose text lies in the kernel's memory. */
let owner = 0
let owners = 0

/** Finds ends in one text of valid JSON. Of any other text it says something, but it ends and reads nothing beyond it. */
export class Ends {
  readonly #bytes: Uint8Array
  readonly #kernel: Kernel | undefined
  readonly #id = ++owners
  #list: ArrayLike<number> = []

  constructor(bytes: Uint8Array, plain = false) {
    this.#bytes = bytes
    if (kernel === null) kernel = loadKernel()
    if (!plain && bytes.length <= KERNEL_BYTES) this.#kernel = kernel
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

  #findThere({ bytes, ends, find }: Kernel, at: number): number {
    const { length } = this.#bytes
    if (owner !== this.#id) {
      bytes.set(this.#bytes)
      bytes.fill(0, length, length + BLOCK_BYTES)
      owner = this.#id
    }
    this.#list = ends
    return find(at, length, ENDS_AT)
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
