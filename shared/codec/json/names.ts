import type { Cursor } from './cursor.ts'

/** Objects with more members than this are checked through a set of texts. */
const PAIRWISE = 16

const decoder = new TextDecoder()

/** Notices a name that occurs twice in one object of free keys; the canonical form holds the last of them only. */
export class Names {
  readonly #bounds: number[] = []
  #texts: Set<string> | undefined

  /** Says whether the name between these positions, quotes included and canonically escaped, was there before. */
  repeats(c: Cursor, start: number, end: number): boolean {
    if (this.#texts !== undefined) return this.#addText(c, start, end)
    const bounds = this.#bounds
    for (let i = 0; i < bounds.length; i += 2) {
      if (sameBytes(c.bytes, bounds[i] as number, bounds[i + 1] as number, start, end)) return true
    }
    bounds.push(start, end)
    if (bounds.length > 2 * PAIRWISE) {
      this.#texts = new Set()
      for (let i = 0; i < bounds.length; i += 2)
        this.#addText(c, bounds[i] as number, bounds[i + 1] as number)
    }
    return false
  }

  #addText(c: Cursor, start: number, end: number): boolean {
    const texts = this.#texts as Set<string>
    const before = texts.size
    texts.add(decoder.decode(c.bytes.subarray(start, end)))
    return texts.size === before
  }
}

function sameBytes(bytes: Uint8Array, start: number, end: number, from: number, to: number): boolean {
  if (end - start !== to - from) return false
  for (let i = start, j = from; i < end; i++, j++) if (bytes[i] !== bytes[j]) return false
  return true
}
