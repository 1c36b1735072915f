import {
  extendDigest,
  type Frame,
  type HeldRecord,
  PREFIX_BYTES,
  Raw,
  type Scan,
  scanRecord,
  Unreadable,
} from '../../codec/index.ts'
import { fold, type Keep, NO_HEADER, WITHOUT_LISTS } from '../../fold/index.ts'
import type { Int } from '../../schema/index.ts'
import { type Lists, type Snapshot, withoutLists } from '../reading/snapshot.ts'
import { release } from '../release.ts'

// Memory: a frame may have 256 MiB, and what is held of it keeps all of it alive. So frames are hashed as they come, and
// lists are given up where they would hold much; then only the state is left, which holds no more than a reader of it does.

/** Bytes that wait to be hashed; saving a hash state costs more than hashing a small frame. */
const UNHASHED_BYTES = 1024 * 1024
/** Lists made of frames of more bytes than these are not written. */
const LISTED_BYTES = 4 * 1024 * 1024

/** What one stretch of frames made of the snapshot before it. */
export interface ClosedStretch {
  readonly snapshot: Snapshot
  /** What the lists gained; undefined where that is too large to be written beside the archive. */
  readonly lists: Lists | undefined
  readonly least_at: number | null
  readonly greatest_at: number | null
}

/** Folds frames from one snapshot to the next. */
export class Stretch {
  /** As of the last frame, but for the hash state. */
  #snapshot: Snapshot
  /** Frames that are not in the hash state yet. */
  #unhashed: Uint8Array[] = []
  #unhashedBytes = 0
  #listedBytes = 0
  #times: { least: Int; greatest: Int } | undefined

  /** @param begin with lists that are empty and a hash state of this version. */
  constructor(begin: Snapshot) {
    this.#snapshot = begin
  }

  /** As it would be kept if the stretch ended here, but for the hash state. */
  get snapshot(): Snapshot {
    const { folding } = this.#snapshot
    return folding && folding !== NO_HEADER
      ? { ...this.#snapshot, folding: withoutLists(folding) }
      : this.#snapshot
  }

  /**
   * @param frame given away: where nothing is held of a large one it goes at once, for the next one may be as large
   * @param read undefined for what is unreadable
   */
  add({ seq, offset, length, payload }: Frame, read: (payload: Uint8Array) => HeldRecord | undefined): void {
    const { unreadable } = this.#snapshot
    const passing = length > LISTED_BYTES ? passingRecord(scanRecord(payload)) : undefined
    const record = passing ?? read(payload)
    const keep = this.#list(length, record)
    const folding = record ? fold(this.#snapshot.folding, record, keep) : this.#snapshot.folding
    this.#snapshot = {
      ...this.#snapshot,
      seq: seq + 1,
      offset: offset + length,
      points: folding && folding !== NO_HEADER ? folding.points : 0,
      unreadable: record ? unreadable : unreadable + 1,
      folding,
    }
    if (record && record.at !== null) this.#see(record.at)
    this.#unhashed.push(prefixOf(payload), payload)
    this.#unhashedBytes += length
    if (this.#unhashedBytes <= UNHASHED_BYTES) return
    this.#hash()
    if (passing) release(payload)
  }

  /** Whether what the record says for the lists is to be kept; what was kept before goes as well where it is too much. */
  #list(length: number, record: HeldRecord | undefined): Keep | undefined {
    if (isListed(record)) this.#listedBytes += length
    if (this.#listedBytes <= LISTED_BYTES) return undefined
    this.#snapshot = this.snapshot
    return WITHOUT_LISTS
  }

  #hash(): void {
    const hashed = extendDigest(this.#snapshot.hash_state, this.#unhashed)
    if (!hashed) throw new TypeError('a stretch begins with a hash state of this version')
    this.#snapshot = { ...this.#snapshot, hash_state: hashed.state }
    this.#unhashed = []
    this.#unhashedBytes = 0
  }

  #see(at: Int): void {
    const { least, greatest } = this.#times ?? { least: at, greatest: at }
    this.#times = { least: at < least ? at : least, greatest: at > greatest ? at : greatest }
  }

  /** Ends the stretch at the last frame; the next one begins there. */
  close(): ClosedStretch {
    this.#hash()
    const { folding } = this.#snapshot
    const state = folding === NO_HEADER ? undefined : folding
    const isWritten = this.#listedBytes <= LISTED_BYTES
    const gained = { messages: state?.messages ?? [], inference_usage: state?.inference_usage ?? [] }
    // Beyond 2^53 a double only says "later" or "earlier" than any time that can be asked for, and that is enough.
    const least_at = this.#times ? Number(this.#times.least) : null
    const greatest_at = this.#times ? Number(this.#times.greatest) : null
    const snapshot = this.snapshot
    this.#snapshot = snapshot
    this.#listedBytes = 0
    this.#times = undefined
    return { snapshot, lists: isWritten ? gained : undefined, least_at, greatest_at }
  }
}

/**
 * In place of a large record that leaves nothing in the state but counts. To hold one whose JSON is not canonical is to
 * write it anew, in several times its memory.
 */
function passingRecord(scan: Scan | Unreadable): HeldRecord | undefined {
  if (scan instanceof Unreadable || scan.at === null) return undefined
  const { kind, at } = scan
  if (kind === 'Message') return { kind, at, message: NOT_HELD }
  if (kind === 'InferenceUsage') return { kind, at, usage: NOT_HELD }
  if (kind === 'Inference') return { kind, at, inference: NOT_HELD }
  return undefined
}

const NOT_HELD = new Raw<never>(new Uint8Array(0), () => {
  throw new TypeError('a record that only passes by is not looked into')
})

const isListed = (record: HeldRecord | undefined): boolean =>
  record?.kind === 'Message' || record?.kind === 'InferenceUsage'

function prefixOf({ length }: Uint8Array): Uint8Array {
  const prefix = new Uint8Array(PREFIX_BYTES)
  new DataView(prefix.buffer).setUint32(PREFIX_BYTES / 2, length)
  return prefix
}
