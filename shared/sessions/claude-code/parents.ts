import type { JsonNumber } from '../../schema/index.ts'
import type { Problem } from '../document.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import { Fingerprints } from '../fingerprints.ts'
import type { LinePlace } from '../lines.ts'
import type { SavedMap, StateWriter } from '../state.ts'
import type { MessageTally } from '../tally.ts'
import { detached } from '../values.ts'

interface Reference extends LinePlace {
  readonly id: string
}

/**
 * Rows name the row before them. A name that no record of the file has is reported, and nothing else depends on it: every
 * row is shown in file order (SESSIONS.md 4.1).
 */
export class Parents {
  readonly #tally: MessageTally
  /** Of records that gave no message; those of the others are in the tally. */
  readonly #others: Fingerprints
  /** Named, and not seen when they were. */
  readonly #open: Reference[]

  constructor(tally: MessageTally, others = new Fingerprints(), open: Reference[] = []) {
    this.#tally = tally
    this.#others = others
    this.#open = open
  }

  /** A record that gave no message has this uuid. */
  silent(uuid: string): void {
    this.#others.add(uuid)
  }

  /** A row names these as the ones before it. */
  named(ids: readonly (string | undefined)[], { line, offset, bytes }: LinePlace): void {
    for (const id of new Set(ids)) {
      if (id !== undefined && !this.#has(id)) this.#open.push({ id: detached(id), line, offset, bytes })
    }
  }

  /** What is still missing, in file order. */
  dangling(path: string): Problem[] {
    return this.#open
      .filter(({ id }) => !this.#has(id))
      .map(({ id, line, offset, bytes }) => ({
        code: 'dangling_parent',
        path,
        line,
        offset,
        bytes,
        detail: id,
      }))
  }

  save(out: StateWriter): unknown {
    return { others: this.#others.save(out), open: this.#open.filter(({ id }) => !this.#has(id)) }
  }

  static load(tally: MessageTally, saved: SavedMap): Parents {
    const int = (item: ValueMap, name: string) => Number((item.get(name) as JsonNumber).text)
    const open = (saved.list('open') as readonly ValueMap[]).map((item) => ({
      id: item.get('id') as Value as string,
      line: int(item, 'line'),
      offset: int(item, 'offset'),
      bytes: int(item, 'bytes'),
    }))
    return new Parents(tally, Fingerprints.load(saved.map('others')), open)
  }

  #has(id: string): boolean {
    return this.#tally.has(id) || this.#others.has(id)
  }
}
