import { callIds, type HeldRecord, hold, type Raw } from '../codec/index.ts'
import { type Int, type PendingBatch, type ToolCall, toolCall } from '../schema/index.ts'
import { AppendList } from './entries.ts'
import type { Window } from './window.ts'

type Batch = Extract<HeldRecord, { kind: 'ToolBatch' }>
type Done = Extract<HeldRecord, { kind: 'ToolCallDone' }>

/** The newest tool batch and the results that came after it; they are laid over its calls only when someone looks. */
export interface OpenBatch {
  readonly stage_index: Int
  readonly iteration: Int
  readonly response: Raw<string>
  readonly calls: readonly Raw<ToolCall>[]
  readonly results: AppendList<{ readonly call_id: string; readonly result: Raw<string> }>
}

export function openBatch({ stage_index, iteration, response, calls }: Batch): OpenBatch {
  return { stage_index, iteration, response, calls, results: AppendList.of([]) }
}

/** A result of another iteration is ignored (LVR1.md 4.4). */
export function takeResult(batch: OpenBatch, done: Done): OpenBatch {
  if (batch.iteration !== done.iteration) return batch
  const results = batch.results.append([done])
  // Results that repeat must not pile up; laying them over now and then keeps the batch as small as its calls.
  if (results.length <= 2 * batch.calls.length + 8) return { ...batch, results }
  const calls = callsWithResults({ ...batch, results }).map((call) => hold(toolCall, call))
  return { ...batch, calls, results: AppendList.of([]) }
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
