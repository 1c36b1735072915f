import { extendDigest, type Frame, type HeldRecord, PREFIX_BYTES } from '../codec/index.ts'
import { fold, NO_HEADER } from '../fold/index.ts'
import type { Int } from '../schema/index.ts'
import { type Lists, type Snapshot, withoutLists } from './reading/snapshot.ts'

/** What one stretch of frames made of the snapshot before it. */
export interface ClosedStretch {
  readonly snapshot: Snapshot
  /** What the lists gained. */
  readonly lists: Lists
  readonly least_at: number | null
  readonly greatest_at: number | null
}

/** Folds frames from one snapshot to the next. */
export class Stretch {
  #snapshot: Snapshot
  /** The stretch's bytes, hashed when it closes. */
  #bytes: Uint8Array[] = []
  #times: { least: Int; greatest: Int } | undefined

  /** @param begin with lists that are empty and a hash state of this version. */
  constructor(begin: Snapshot) {
    this.#snapshot = begin
  }

  /** @param record of the frame, undefined where it is unreadable. */
  add({ seq, offset, length, payload }: Frame, record: HeldRecord | undefined): void {
    const { unreadable } = this.#snapshot
    const folding = record ? fold(this.#snapshot.folding, record) : this.#snapshot.folding
    this.#bytes.push(prefixOf(payload), payload)
    this.#snapshot = {
      ...this.#snapshot,
      seq: seq + 1,
      offset: offset + length,
      points: folding && folding !== NO_HEADER ? folding.points : 0,
      unreadable: record ? unreadable : unreadable + 1,
      folding,
    }
    if (record && record.at !== null) this.#see(record.at)
  }

  #see(at: Int): void {
    const { least, greatest } = this.#times ?? { least: at, greatest: at }
    this.#times = { least: at < least ? at : least, greatest: at > greatest ? at : greatest }
  }

  /** Ends the stretch at the last frame; the next one begins there. */
  close(): ClosedStretch {
    const { folding, hash_state } = this.#snapshot
    const state = folding === NO_HEADER ? undefined : folding
    const hashed = extendDigest(hash_state, this.#bytes)
    if (!hashed) throw new TypeError('a stretch begins with a hash state of this version')
    const snapshot = {
      ...this.#snapshot,
      hash_state: hashed.state,
      folding: state ? withoutLists(state) : folding,
    }
    const lists = { messages: state?.messages ?? [], inference_usage: state?.inference_usage ?? [] }
    // Beyond 2^53 a double only says "later" or "earlier" than any time that can be asked for, and that is enough.
    const least_at = this.#times ? Number(this.#times.least) : null
    const greatest_at = this.#times ? Number(this.#times.greatest) : null
    this.#snapshot = snapshot
    this.#bytes = []
    this.#times = undefined
    return { snapshot, lists, least_at, greatest_at }
  }
}

function prefixOf({ length }: Uint8Array): Uint8Array {
  const prefix = new Uint8Array(PREFIX_BYTES)
  new DataView(prefix.buffer).setUint32(PREFIX_BYTES / 2, length)
  return prefix
}
