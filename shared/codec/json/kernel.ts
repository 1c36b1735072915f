import { assemble } from './wasm/assemble.ts'
import { ENDS } from './wasm/ends.ts'
import { QUOTES } from './wasm/quotes.ts'

// The memory of the kernels (wasm/):
//
//   0             TEXT_BYTES + 64    + 2 × TEXT_BYTES       + 4 × TEXT_BYTES
//   ┌──────┬──────┬──────────────────┬──────────────────────┐
//   │ text │ pad  │ ends, 32 bits    │ quotes, 32 bits      │   touched only as far as texts reach
//   └──────┴──────┴──────────────────┴──────────────────────┘

/** The longest text that is given to the kernels. */
const TEXT_BYTES = 2 << 20
/** They look at blocks of this length. */
const BLOCK_BYTES = 64
const BLANK = 0x20
const PAGE_BYTES = 65_536
const ENDS_AT = TEXT_BYTES + BLOCK_BYTES
/** An item has two brackets. */
const QUOTES_AT = ENDS_AT + 2 * TEXT_BYTES
const MEMORY_BYTES = QUOTES_AT + 4 * TEXT_BYTES

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): void }
  readonly ends: (at: number, end: number, out: number) => number
  readonly quotes: (end: number, out: number) => number
}

/** What is used of WebAssembly, which neither ECMAScript's library nor Node's types declare. */
interface Host {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: Exports }
}

/** What WebAssembly's vectors do for one text at a time. */
export class Kernel {
  static #only: Kernel | undefined | null = null

  /** Undefined for a text that is too long, and where there are no vectors, as under a strict content security policy. */
  static for(text: Uint8Array): Kernel | undefined {
    if (text.length > TEXT_BYTES) return undefined
    if (Kernel.#only === null) Kernel.#only = Kernel.#load()
    return Kernel.#only
  }

  static #load(): Kernel | undefined {
    try {
      const { Module, Instance } = (globalThis as unknown as { WebAssembly: Host }).WebAssembly
      return new Kernel(new Instance(new Module(assemble(ENDS + QUOTES))).exports)
    } catch {
      return undefined
    }
  }

  /** What `findEnds` and `findQuotes` have written last. */
  readonly ends: Uint32Array
  readonly quotes: Uint32Array
  readonly #exports: Exports
  readonly #bytes: Uint8Array
  #text = 0
  #texts = 0

  private constructor(exports: Exports) {
    exports.memory.grow(Math.ceil(MEMORY_BYTES / PAGE_BYTES) - 1)
    const { buffer } = exports.memory
    this.#exports = exports
    this.#bytes = new Uint8Array(buffer)
    this.ends = new Uint32Array(buffer, ENDS_AT)
    this.quotes = new Uint32Array(buffer, QUOTES_AT)
  }

  /** Makes this the text, if the one that was given this number before is not there any more; its number from now on. */
  take(text: Uint8Array, number: number): number {
    if (number === this.#text && number !== 0) return number
    this.#bytes.set(text)
    this.#bytes.fill(BLANK, text.length, text.length + BLOCK_BYTES)
    this.#text = ++this.#texts
    return this.#text
  }

  /** See wasm/ends.ts. */
  findEnds(at: number, end: number): number {
    return this.#exports.ends(at, end, ENDS_AT)
  }

  /** See wasm/quotes.ts. */
  findQuotes(end: number): number {
    return this.#exports.quotes(end, QUOTES_AT)
  }
}
