import { callCount, callIds, type HeldRecord, hold, type Raw } from '../codec/index.ts'
import { type Int, type PendingBatch, type ToolCall, toolCall } from '../schema/index.ts'
import { AppendList } from './entries.ts'
import type { Window } from './window.ts'

type Batch = Extract<HeldRecord, { kind: 'ToolBatch' }>
type Done = Extract<HeldRecord, { kind: 'ToolCallDone' }>

type Result = Pick<Done, 'call_id' | 'result'>

/** The newest tool batch and what came after it; neither is read before someone looks. */
export class OpenBatch {
  readonly #batch: Batch
  readonly #done: AppendList<Done>

  constructor(batch: Batch, done: AppendList<Done> = AppendList.of([])) {
    this.#batch = batch
    this.#done = done
  }

  get stage_index(): Int {
    return this.#batch.stage_index
  }

  get iteration(): Int {
    return this.#batch.iteration
  }

  get response(): Raw<string> {
    return this.#batch.response
  }

  get calls(): readonly Raw<ToolCall>[] {
    return this.#batch.calls
  }

  /** A result of another iteration is ignored (LVR1.md 4.4). */
  get results(): readonly Result[] {
    return this.#done.from(0).filter(({ iteration }) => iteration === this.iteration)
  }

  take(done: Done): OpenBatch {
    const all = this.#done.append([done])
    // Results that repeat must not pile up; laying them over now and then keeps the batch as small as its calls.
    if (all.length <= 2 * callCount(this.#batch) + 8) return new OpenBatch(this.#batch, all)
    const { kind, at, stage_index, iteration, response } = this.#batch
    const filled = callsWithResults(new OpenBatch(this.#batch, all))
    const calls = filled.map((call) => hold(toolCall, call))
    return new OpenBatch({ kind, at, stage_index, iteration, response, calls })
  }
}

/** What is still pending after the last record: null when the run moved on, or the window shows the batch's first call. */
export function pendingAtEnd(batch: OpenBatch | null, iteration: Int, window: Window): PendingBatch | null {
  if (!batch || batch.iteration !== iteration) return null
  const first = batch.calls[0]
  if (first && hasCall(window, first.read().id)) return null
  const { stage_index, response } = batch
  return { stage_index, iteration, response: response.read(), calls: callsWithResults(batch) }
}

/** Each result goes to the first call of its id; the last one wins. */
function callsWithResults({ calls, results }: OpenBatch): ToolCall[] {
  const filled = calls.map((call) => call.read())
  const places = new Map<string, number>()
  filled.forEach(({ id }, place) => {
    if (!places.has(id)) places.set(id, place)
  })
  for (const { call_id, result } of results) {
    const place = places.get(call_id)
    if (place !== undefined) filled[place] = { ...(filled[place] as ToolCall), result: result.read() }
  }
  return filled
}

function hasCall(window: Window, id: string): boolean {
  for (const region of window.regions) {
    for (const entry of region.entries) if (callIds(entry).includes(id)) return true
  }
  return false
}
