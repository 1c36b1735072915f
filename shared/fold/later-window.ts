import type { HeldRecord } from '../codec/index.ts'
import { waitingBytes } from '../codec/index.ts'
import type { Int } from '../schema/index.ts'
import type { Regions } from './regions.ts'
import { applyDelta, EMPTY_WINDOW, type Window, windowOf } from './window.ts'

/** A record that makes a point (LVR1.md 4.5). */
type PointRecord = Extract<
  HeldRecord,
  { kind: 'ContextCheckpoint' | 'ContextDiff' | 'Checkpoint' | 'Progress' }
>

/** Bytes of records that may wait behind one window; past that they are read, so that memory stays bounded. */
const MOST_WAITING_BYTES = 32 << 20

/** The window after a record. One that waits to be read is read when somebody looks, so never where the window is replaced first. */
export function windowAfter(base: Window, record: PointRecord): Window {
  const before = base instanceof LaterWindow ? base.madeOrItself : base
  const bytes = waitingBytes(record)
  if (bytes === 0) return changed(before, record)
  const window = new LaterWindow(isWhole(record) ? EMPTY_WINDOW : before, record, bytes)
  return window.waiting > MOST_WAITING_BYTES ? window.made : window
}

/** The same window, made if it was not yet. */
export const madeWindow = (window: Window): Window => (window instanceof LaterWindow ? window.made : window)

const isWhole = ({ kind }: PointRecord) => kind === 'ContextCheckpoint' || kind === 'Checkpoint'

function changed(base: Window, record: PointRecord): Window {
  switch (record.kind) {
    case 'ContextCheckpoint':
      return windowOf(record.snapshot)
    case 'Checkpoint':
      return windowOf(record.context)
    default:
      return applyDelta(base, record.delta)
  }
}

/** A window that is made when somebody looks at it, with those it is made from. */
class LaterWindow implements Window {
  /** Bytes of the records that it is made from. */
  readonly waiting: number
  #from: { readonly base: Window; readonly record: PointRecord } | undefined
  #made: Window = EMPTY_WINDOW

  constructor(base: Window, record: PointRecord, bytes: number) {
    this.#from = { base, record }
    this.waiting = bytes + (base instanceof LaterWindow ? base.waiting : 0)
  }

  get stage_name(): string {
    return this.made.stage_name
  }

  get total_tokens(): Int {
    return this.made.total_tokens
  }

  get max_tokens(): Int {
    return this.made.max_tokens
  }

  get regions(): Regions {
    return this.made.regions
  }

  get madeOrItself(): Window {
    return this.#from === undefined ? this.#made : this
  }

  get made(): Window {
    // As a loop: thousands may wait behind each other.
    const waiting: LaterWindow[] = []
    let window: Window = this.madeOrItself
    while (window instanceof LaterWindow && window.#from) {
      waiting.push(window)
      window = window.#from.base
    }
    if (window instanceof LaterWindow) window = window.#made
    for (const next of waiting.reverse()) {
      if (next.#from) window = changed(window, next.#from.record)
      next.#made = window
      next.#from = undefined
    }
    return window
  }
}
