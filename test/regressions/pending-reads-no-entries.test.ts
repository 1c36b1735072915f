import { afterEach, describe, expect, it, vi } from 'vitest'
import { encodeRecord, Raw, readRecord } from '#codec'
import { type Folding, fold, NO_HEADER, pendingBatchOf } from '#fold'
import type { Entry, EntryCall, JournalRecord } from '#schema'
import { demoRecords } from '../../functions/cli/demo-run.ts'

// Whether a tool batch is still pending depends on the calls that the window shows. Every entry of the window was decoded
// for that, arguments and metadata too, at each fold of a run that waits for its tools.

const ENTRIES = 1000
const entry = (kind: Entry['kind']): Entry => ({
  content: 'text with "type":"AssistantTurn" in it',
  tokens: 1,
  kind,
  metadata: { type: 'AssistantTurn' },
  key: null,
  taint: 'Internal',
})
const call = (id: string): EntryCall => ({ id, name: 'n', arguments: { id: 'a' }, thought_signature: null })
const turn = (...ids: string[]) => entry({ type: 'AssistantTurn', tool_calls: ids.map(call) })
const result = entry({ type: 'ToolResult', tool_call_id: 'a', tool_name: 'n', is_error: false })

/** A run with a batch of the calls a and b, whose window holds these entries. */
function stateWith(...entries: Entry[]) {
  const [header] = demoRecords({ seed: 1, records: 1 })
  const iteration = header && 'Header' in header ? header.Header.meta.iteration : 0
  const calls = ['a', 'b'].map((id) => ({
    id,
    name: 'n',
    arguments: '{}',
    result: null,
    thought_signature: null,
  }))
  const region = { name: 'r', kind: 'history', current_tokens: 0, max_tokens: 0, entries, description: null }
  const snapshot = { stage_name: '', total_tokens: 0, max_tokens: 0, regions: [region] }
  let state: Folding
  for (const record of [
    header,
    { ToolBatch: { calls, at: 0, stage_index: 0, iteration, response: '' } },
    { ContextCheckpoint: { snapshot, at: 0 } },
  ]) {
    state = fold(state, readRecord(encodeRecord(record as JournalRecord)))
  }
  if (!state || state === NO_HEADER) throw new Error('a Header is needed')
  return state
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('the pending batch', () => {
  it('is found without decoding the entries of the window', () => {
    const entries = Array.from({ length: ENTRIES }, (_, n) => (n % 2 === 0 ? turn(`c${n}`, 'b') : result))
    const state = stateWith(...entries)
    const read = vi.spyOn(Raw.prototype, 'read')
    expect(pendingBatchOf(state)?.calls).toHaveLength(2)
    expect(read.mock.calls.length).toBeLessThan(10)
  })

  it('is none once any AssistantTurn shows its first call, wherever it stands', () => {
    expect(pendingBatchOf(stateWith(result, turn(), turn('b', 'a')))).toBeNull()
    expect(pendingBatchOf(stateWith(result, turn('b'), entry({ type: 'Text' })))).not.toBeNull()
  })
})
