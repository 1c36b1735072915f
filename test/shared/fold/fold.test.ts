import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeArchive, hold, jsonText, readArchive } from '#codec'
import {
  type Folding,
  type FoldState,
  fold,
  foldedView,
  NO_HEADER,
  points,
  pointView,
  windowView,
} from '#fold'
import { type InferenceUsage, type JournalRecord, type RunMeta, runMeta } from '#schema'
import { demoMeta } from '../../../functions/cli/demo-meta.ts'
import { demoRecords } from '../../../functions/cli/demo-run.ts'
import { foldRecords, held, heldAll } from './kit.ts'

const run = [...demoRecords({ seed: 11, records: 240, entryBytes: 800 })]
const meta = (part: Partial<RunMeta> = {}): RunMeta => ({ ...demoMeta(1), ...part })
const header = (part: Partial<RunMeta> = {}): JournalRecord => ({
  Header: { identity: { run_id: 'r', machine_id: 'm', world_id: 'w', created_at: 1 }, meta: meta(part) },
})
const status = (word: RunMeta['status']): JournalRecord => ({ StatusChanged: { status: word, at: 2 } })
const batch = (ids: string[], iteration = 7, results: (string | null)[] = []): JournalRecord => ({
  ToolBatch: {
    calls: ids.map((id, n) => ({
      id,
      name: 'shell',
      arguments: '{}',
      result: results[n] ?? null,
      thought_signature: null,
    })),
    at: 3,
    stage_index: 0,
    iteration,
    response: '',
  },
})
const done = (call_id: string, result: string, iteration = 7): JournalRecord => ({
  ToolCallDone: { iteration, call_id, result, at: 4 },
})
const turn = (id: string): JournalRecord => ({
  ContextCheckpoint: {
    snapshot: {
      stage_name: 's',
      total_tokens: 1,
      max_tokens: 2,
      regions: [
        {
          name: 'c',
          kind: 'k',
          current_tokens: 1,
          max_tokens: 1,
          description: null,
          entries: [
            {
              content: '',
              tokens: 1,
              kind: {
                type: 'AssistantTurn',
                tool_calls: [{ id, name: 'shell', arguments: {}, thought_signature: null }],
              },
              metadata: null,
              key: null,
              taint: 'Internal',
            },
          ],
        },
      ],
    },
    at: 5,
  },
})
const usage: InferenceUsage = {
  kind: 'stage',
  stage: 's',
  iteration: 1,
  provider: 'p',
  model: 'm',
  prompt_tokens: 2n ** 63n,
  completion_tokens: 2,
  cached_tokens: 3,
  cache_write_tokens: 4,
  at: 5,
}

const view = (state: Folding) => jsonText(foldedView(state as FoldState))
const folded = (...records: JournalRecord[]) => JSON.parse(view(foldRecords(records)))

describe('fold', () => {
  it('gives the same state folded at once, or stopped anywhere and gone on', () => {
    const records = heldAll(run)
    const whole = view(records.reduce<Folding>((state, record) => fold(state, record), undefined))
    fc.assert(
      fc.property(fc.nat(records.length), (cut) => {
        const half = records.slice(0, cut).reduce<Folding>((state, record) => fold(state, record), undefined)
        expect(view(records.slice(cut).reduce<Folding>((state, record) => fold(state, record), half))).toBe(
          whole,
        )
      }),
      { numRuns: 20 },
    )
  })

  it('leaves every older state as it was', () => {
    const states: { state: FoldState; text: string }[] = []
    let state: Folding
    for (const record of heldAll(run)) {
      state = fold(state, record)
      if (typeof state === 'object') states.push({ state, text: view(state) })
    }
    for (const { state, text } of states) expect(view(state)).toBe(text)
  })

  it('has no result without a Header first, for good', () => {
    expect(foldRecords([])).toBeUndefined()
    expect(foldRecords([status('running'), header()])).toBe(NO_HEADER)
  })

  it('keeps the window over a later Header, which replaces identity and meta', () => {
    const state = folded(header(), turn('a'), header({ task: 'second' }))
    expect(state.meta.task).toBe('second')
    expect(state.context.regions).toHaveLength(1)
  })

  it('changes only machine and world with the owner', () => {
    const state = folded(header(), { OwnershipChanged: { machine_id: 'm2', world_id: 'w2', at: 1 } })
    expect(state.identity).toEqual({ run_id: 'r', machine_id: 'm2', world_id: 'w2', created_at: 1 })
  })

  it('lays a changed status over the meta until the next meta comes', () => {
    const delta = { stage_name: 's', total_tokens: 0, max_tokens: 0, regions: [] }
    const progress: JournalRecord = { Progress: { meta: meta({ status: 'running' }), delta, at: 9 } }
    expect(folded(header(), status('paused')).meta.status).toBe('paused')
    expect(folded(header(), status('paused'), { ContextDiff: { delta, at: 3 } }).meta.status).toBe('paused')
    expect(folded(header(), status('paused'), progress).meta.status).toBe('running')
    const patched = foldRecords([header({ task: '日本' }), status('paused')]) as FoldState
    expect(jsonText(patched.meta.raw)).toBe(jsonText(hold(runMeta, meta({ task: '日本', status: 'paused' }))))
  })

  it('counts inferences and calls, and keeps messages and usage in order and digits', () => {
    const state = folded(
      header(),
      { InferenceUsage: usage },
      { Message: { message: { role: 'user', content: 'one' }, at: 1 } },
      { InferenceUsage: { ...usage, kind: 'title' } },
      batch(['a', 'b']),
      batch(['c']),
      { Message: { message: { role: 'user', content: 'two' }, at: 1 } },
    )
    expect([state.inference_count, state.tool_call_count]).toEqual([2, 3])
    expect(state.messages.map((m: { content: string }) => m.content)).toEqual(['one', 'two'])
    expect(state.inference_usage.map((u: { kind: string }) => u.kind)).toEqual(['stage', 'title'])
    expect(view(foldRecords([header(), { InferenceUsage: usage }]))).toContain(
      '"prompt_tokens":9223372036854775808',
    )
  })

  it('keeps no list that is not asked for, and counts all the same', () => {
    const records = heldAll([
      header(),
      { InferenceUsage: usage },
      { Message: { message: { role: 'u', content: 'c' }, at: 1 } },
    ])
    const keep = { messages: false, inference_usage: false }
    const state = records.reduce<Folding>((s, record) => fold(s, record, keep), undefined) as FoldState
    expect([state.messages.length, state.inference_usage.length, state.inference_count]).toEqual([0, 0, 1])
  })

  it('gives the parts asked for, and the counts always', () => {
    const state = foldRecords([header(), turn('x')]) as FoldState
    expect(Object.keys(JSON.parse(jsonText(foldedView(state, ['identity']))))).toEqual([
      'identity',
      'inference_count',
      'tool_call_count',
    ])
  })

  it('shows no secret', () => {
    expect(view(foldRecords([header({ callback_secret: 'hush' }), status('running')]))).not.toContain('hush')
  })
})

describe('the pending batch', () => {
  const results = (...records: JournalRecord[]) =>
    folded(header({ iteration: 7 }), ...records).pending_batch?.calls.map(
      (c: { result: string | null }) => c.result,
    ) ?? null

  it.each<[what: string, records: JournalRecord[], results: (string | null)[] | null]>([
    ['one call done', [batch(['a', 'b']), done('b', 'ok')], [null, 'ok']],
    ['every call done stays pending', [batch(['a', 'b']), done('a', 'x'), done('b', 'y')], ['x', 'y']],
    ['a result of another iteration is ignored', [batch(['a']), done('a', 'stale', 6)], [null]],
    ['an unknown id is ignored', [batch(['a']), done('z', 'lost')], [null]],
    [
      'the first call of an id takes each result',
      [batch(['a', 'a']), done('a', 'x'), done('a', 'y')],
      ['y', null],
    ],
    [
      'a result that came with the batch is overwritten',
      [batch(['a'], 7, ['given']), done('a', 'later')],
      ['later'],
    ],
    ['the run moved on', [batch(['a'], 6)], null],
    ['its first call is in the window', [batch(['a', 'b']), turn('a')], null],
    ['its first call was in the window before', [turn('a'), batch(['a', 'b'])], null],
    ['only its second call is in the window', [batch(['a', 'b']), turn('b')], [null, null]],
    ['a batch of no calls', [batch([])], []],
    ['a later batch replaces it', [batch(['a']), done('a', 'x'), batch(['z'])], [null]],
    ['a result before any batch', [done('a', 'x')], null],
  ])('%s', (_what, records, expected) => {
    expect(results(...records)).toEqual(expected)
  })

  it('does not grow with results that repeat', () => {
    let state = [held(header({ iteration: 7 })), held(batch(['a', 'b']))].reduce<Folding>(
      (s, r) => fold(s, r),
      undefined,
    )
    const again = Array.from({ length: 50 }, (_, n) => held(done(n % 2 ? 'a' : 'b', `${n}`)))
    for (const record of again) state = fold(state, record)
    expect((state as FoldState).batch?.results.length).toBeLessThan(20)
    expect(JSON.parse(view(state)).pending_batch.calls.map((c: { result: string }) => c.result)).toEqual([
      '49',
      '48',
    ])
  })
})

describe('points', () => {
  it('are made by the four kinds that change the window, and equal the fold stopped there', () => {
    const found = [...points(readArchive(encodeArchive(run)))]
    const kinds = ['ContextCheckpoint', 'ContextDiff', 'Checkpoint', 'Progress']
    const seqs = run.flatMap((record, seq) => (kinds.includes(Object.keys(record)[0] as string) ? [seq] : []))
    expect(found.map(({ seq }) => seq)).toEqual(seqs)
    expect(found.map(({ point }) => point)).toEqual(seqs.map((_, n) => n))
    for (const point of found.filter(({ point }) => point % 9 === 0)) {
      const state = foldRecords(run.slice(0, point.seq + 1)) as FoldState
      expect(jsonText(pointView(point, 'full'))).toBe(
        jsonText({
          point: point.point,
          seq: point.seq,
          at: point.at,
          meta: state.meta.raw,
          context: windowView(state.context),
        }),
      )
    }
  })

  it('are the same when the archive comes as a stream', async () => {
    const bytes = encodeArchive(run)
    async function* items() {
      yield* readArchive(bytes)
    }
    const streamed: string[] = []
    for await (const point of points(items())) streamed.push(jsonText(pointView(point, 'summary')))
    expect(streamed).toEqual(
      [...points(readArchive(bytes))].map((point) => jsonText(pointView(point, 'summary'))),
    )
  })

  it('do not exist without a Header', () => {
    expect([...points(readArchive(encodeArchive(run.slice(1))))]).toEqual([])
  })
})
