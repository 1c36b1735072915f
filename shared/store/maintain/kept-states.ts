import { digestOf } from '../../codec/index.ts'
import type { RunKey } from '../../schema/index.ts'
import { derivedKey, HASH_DIGITS } from '../keys.ts'
import type { DerivedPlace, Head, Objects } from '../ports.ts'
import { BEGINNING, type Boundary } from '../reading/frames.ts'
import { gzip } from '../reading/gzip.ts'
import { listBytes, snapshotChunks } from '../reading/snapshot.ts'
import { indexBytes, type NewEntry, type SnapshotIndex } from '../reading/snapshot-index.ts'
import type { ClosedStretch } from './stretch.ts'

// A put costs as much as a dozen reads, so all that one fold keeps goes into one object: states, each a gzip file of its
// own that is read by a range, and behind them the new index. That index is wanted until the next one, but stays as long as
// the states do; so where it is long beside the archive that was folded it becomes an object of its own, which the sweep
// takes (P9).

const MOST_OF_ARCHIVE = 1 / 64
const NONE = new Uint8Array(0)
const shortHash = (...chunks: readonly Uint8Array[]) => digestOf(...chunks).slice(0, HASH_DIGITS)

/** The states that one fold has made so far. */
export class KeptStates {
  readonly #chunks: Uint8Array[] = []
  readonly #entries: NewEntry[] = []

  get bytes(): number {
    return total(this.#chunks)
  }

  get count(): number {
    return this.#entries.length
  }

  /** @returns bytes of the state, packed. */
  async add({ snapshot, lists, least_at, greatest_at }: ClosedStretch): Promise<number> {
    const { seq, offset, points, unreadable } = snapshot
    const state = await gzip(snapshotChunks(snapshot))
    const added = lists ? listBytes(lists) : NONE
    const gained = added.length > 0 ? await gzip([added]) : NONE
    this.#chunks.push(state, gained)
    const sizes = { length: state.length, lists: lists ? gained.length : null }
    this.#entries.push({ seq, offset, points, unreadable, least_at, greatest_at, ...sizes })
    return state.length
  }

  /** Stores them with an index of them and of those that were known. @returns where that index is */
  async store(
    objects: Objects,
    run: RunKey,
    { life, sweep }: Head,
    known: SnapshotIndex,
  ): Promise<DerivedPlace> {
    const last = this.#entries.at(-1) ?? known.entries.at(-1) ?? BEGINNING
    const { seq, offset } = last
    const put = async (states: readonly Uint8Array[], index: Uint8Array) => {
      const hash = index.length > 0 ? shortHash(index) : shortHash(...states)
      const sizes = { stateBytes: total(states), indexBytes: index.length }
      const place: DerivedPlace = { sweep, life, seq, offset, ...sizes, hash }
      await objects.put(derivedKey(run, place), [...states, index], factsOf(place))
      return place
    }
    const states = this.#chunks
    const index = await gzip([indexBytes(known, this.#entries, shortHash(...states))])
    const folded = offset - (known.entries.at(-1)?.offset ?? 0)
    if (states.length === 0 || index.length <= folded * MOST_OF_ARCHIVE) {
      return put(states, index)
    }
    const all = { ...known, entries: [...known.entries, ...placed(this.#entries, await put(states, NONE))] }
    return put([], await gzip([indexBytes(all, [], '')]))
  }
}

function placed(entries: readonly NewEntry[], object: DerivedPlace): SnapshotIndex['entries'] {
  let end = 0
  return entries.map((entry) => {
    const start = end
    end += entry.length + (entry.lists ?? 0)
    return { ...entry, start, object }
  })
}

const total = (chunks: readonly Uint8Array[]) => chunks.reduce((sum, { length }) => sum + length, 0)

const factsOf = ({ life, seq, offset }: Boundary & { readonly life: number }) => ({
  life: String(life),
  seq: String(seq),
  offset: String(offset),
})
