import type { Raw } from '../../codec/index.ts'
import { type FoldState, type Keep, NO_HEADER } from '../../fold/index.ts'
import { runName } from '../run-name.ts'
import type { StateAt } from './states.ts'
import type { ArchiveView } from './view.ts'

/** Memory for runs that were folded a moment ago, all tenants together. */
const WARM_BYTES = 64 * 1024 * 1024

/** The newest state that was folded of a run, and what it is known to be the state of. */
interface Warm extends StateAt {
  readonly life: number
  readonly epoch: number
  /** Of the archive up to `offset`. */
  readonly digest: string
  /** Whether its lists are kept too. */
  readonly isListed: boolean
  readonly bytes: number
}

/**
 * States at the tails of runs, so that the next fold reads only what was appended since. A state belongs to one tenant's
 * run, life and epoch; within those an archive only grows, and where it has not, the digest must be the same. The least
 * recently used go first.
 */
export class WarmStates {
  readonly #maxBytes: number
  readonly #found: (isFound: boolean) => void
  readonly #states = new Map<string, Warm>()
  #bytes = 0

  /** @param found told whether a state that was looked for was there */
  constructor(found: (isFound: boolean) => void = () => {}, maxBytes = WARM_BYTES) {
    this.#found = found
    this.#maxBytes = maxBytes
  }

  /** The state kept of this run, where it is one of the view's own past and has what is to be kept. */
  find(view: ArchiveView, keep: Keep): (StateAt & { readonly isListed: boolean }) | undefined {
    const state = this.#look(view, keep)
    this.#found(state !== undefined)
    return state
  }

  #look(view: ArchiveView, keep: Keep): (StateAt & { readonly isListed: boolean }) | undefined {
    const { life, epoch, tail, digest } = view.head
    const found = this.#states.get(runName(view.run))
    if (!found || found.offset > tail) return undefined
    const isSame =
      found.life === life && found.epoch === epoch && (found.offset < tail || found.digest === digest)
    if (!isSame) {
      this.#drop(runName(view.run))
      return undefined
    }
    this.#states.delete(runName(view.run)) // and to the end, as the one used last
    this.#states.set(runName(view.run), found)
    return found.isListed || (!keep.messages && !keep.inference_usage) ? found : undefined
  }

  /** Keeps the state at the view's tail. */
  put(view: ArchiveView, { seq, offset, folding }: StateAt, isListed: boolean): void {
    const { life, epoch, digest, frames } = view.head
    if (seq !== frames || !folding || folding === NO_HEADER) return
    const name = runName(view.run)
    const bytes = bytesHeld(folding)
    this.#drop(name)
    if (bytes > this.#maxBytes) return
    this.#states.set(name, { seq, offset, folding, life, epoch, digest, isListed, bytes })
    this.#bytes += bytes
    for (const [oldest] of this.#states) {
      if (this.#bytes <= this.#maxBytes) return
      this.#drop(oldest)
    }
  }

  #drop(name: string): void {
    this.#bytes -= this.#states.get(name)?.bytes ?? 0
    this.#states.delete(name)
  }
}

/** What an item costs beside its bytes. */
const ITEM_BYTES = 200

/** The memory a state keeps alive: a held value may be a small part of the frame it came in. */
function bytesHeld(state: FoldState): number {
  const buffers = new Set<ArrayBufferLike>()
  let items = state.context.regions.length
  for (const { bytes } of heldBy(state)) {
    buffers.add(bytes.buffer)
    items++
  }
  let held = items * ITEM_BYTES
  for (const { byteLength } of buffers) held += byteLength
  return held
}

function* heldBy({ meta, context, messages, inference_usage, batch }: FoldState): Generator<Raw<unknown>> {
  yield meta.raw
  for (const { entries } of context.regions) yield* entries
  yield* messages
  yield* inference_usage
  yield* batch?.calls ?? []
  for (const { result } of batch?.results ?? []) yield result
}
