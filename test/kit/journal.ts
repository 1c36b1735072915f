import * as fc from 'fast-check'
import { encodeFrame, encodeRecord } from '#codec'
import type { JournalRecord } from '#schema'
import { runMeta } from '#schema'
import { anyRecord, arbitraryOf } from './arbitraries.ts'

// Journals of a few regions that are appended to, cleared, set and removed again, with records of every other kind, frames
// that are no record, and times that repeat and run backwards.

const at = fc.integer({ min: -3, max: 20 })
const tokens = fc.integer({ min: 0, max: 99 })
const name = fc.constantFrom('history', 'tools', 'notes')
const entries = fc.array(
  fc.record({ content: fc.string({ maxLength: 20 }), tokens, kind: fc.constant({ type: 'Text' }) }),
  { maxLength: 3 },
)
const region = fc.record({
  name,
  kind: fc.constant('k'),
  current_tokens: tokens,
  max_tokens: tokens,
  entries,
})
const operation = fc.oneof(
  region.map((value) => ({ Set: value })),
  fc.record({ name, entries, current_tokens: tokens }).map((value) => ({ Append: value })),
  fc.record({ name }).map((value) => ({ Clear: value })),
  fc.record({ name }).map((value) => ({ Remove: value })),
)
const delta = fc.record({
  stage_name: fc.constantFrom('plan', 'act'),
  total_tokens: tokens,
  max_tokens: tokens,
  regions: fc.array(operation, { maxLength: 3 }),
})
const window = fc.record({
  stage_name: fc.constant('plan'),
  total_tokens: tokens,
  max_tokens: tokens,
  regions: fc.array(region, { maxLength: 4 }),
})
const call = fc.record({
  id: fc.constantFrom('c1', 'c2'),
  name,
  arguments: fc.constant('{}'),
  result: fc.constant(null),
})
const iteration = fc.constantFrom(0, 1)

/** Metas are long, so few are made. */
const meta = fc
  .record({ meta: arbitraryOf(runMeta), iteration })
  .map(({ meta: any, iteration: n }) => ({ ...any, iteration: n, metadata: {} }))

const record = fc.oneof(
  { weight: 6, arbitrary: fc.record({ delta, at }).map((body) => ({ ContextDiff: body })) },
  { weight: 2, arbitrary: fc.record({ meta, delta, at }).map((body) => ({ Progress: body })) },
  { weight: 1, arbitrary: fc.record({ snapshot: window, at }).map((body) => ({ ContextCheckpoint: body })) },
  {
    weight: 2,
    arbitrary: fc
      .record({
        calls: fc.array(call, { maxLength: 3 }),
        at,
        iteration,
        stage_index: iteration,
        response: name,
      })
      .map((body) => ({ ToolBatch: body })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ iteration, call_id: fc.constantFrom('c1', 'c2'), result: name, at })
      .map((body) => ({ ToolCallDone: body })),
  },
  { weight: 4, arbitrary: anyRecord },
) as fc.Arbitrary<JournalRecord>

const header = fc
  .record({
    identity: fc.record({ run_id: name, machine_id: name, world_id: name, created_at: at }),
    meta,
  })
  .map((body) => ({ Header: body }) as unknown as JournalRecord)

const junk = fc.constantFrom('', '{', '{"Unknown":{}}', '{"Progress":{}}')

const frame = fc.oneof(
  { weight: 12, arbitrary: record.map((value) => encodeFrame(encodeRecord(value))) },
  { weight: 1, arbitrary: junk.map((text) => encodeFrame(new TextEncoder().encode(text))) },
)

/** Frames of a journal; `headed` says whether it begins as one should. */
export const journal = ({ headed = true, maxFrames = 30 } = {}): fc.Arbitrary<Uint8Array[]> =>
  fc
    .tuple(
      header.map((value) => encodeFrame(encodeRecord(value))),
      fc.array(frame, { minLength: 5, maxLength: maxFrames }),
    )
    .map(([first, rest]) => (headed ? [first, ...rest] : rest))
