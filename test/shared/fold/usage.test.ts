import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonBytes, readRecord } from '#codec'
import { UsageTally } from '#fold'
import { USAGE_BUCKETS_MAX, USAGE_NAMES_MAX } from '#schema'
import { PLAIN_META, plainHeader } from '../../kit/plain-header.ts'

const META = { ...PLAIN_META, model: 'm-1', current_stage: 'plan' }
const WINDOW = { stage_name: 's', total_tokens: 0, max_tokens: 0, regions: [] }
const CALL = {
  stage: 'plan',
  iteration: 0,
  provider: 'p',
  model: 'm-1',
  prompt_tokens: 10,
  completion_tokens: 2,
  cached_tokens: 5,
  cache_write_tokens: 1,
  at: 100,
}

const usage = (more: object = {}) => ({ InferenceUsage: { ...CALL, ...more } })
const progress = (meta: object, at = 100) => ({ Progress: { meta: { ...META, ...meta }, delta: WINDOW, at } })
const header = (meta: object = {}) => plainHeader({ ...META, ...meta })
const inference = (more: object = {}) => ({
  Inference: {
    stage: 'build',
    iteration: 0,
    request: { model: 'm-2', system: [], messages: [], tool_names: [], temperature: 0, max_tokens: 1 },
    response: {
      content: '',
      tool_calls: [],
      prompt_tokens: 7,
      completion_tokens: 3,
      cached_tokens: 0,
      cache_write_tokens: 0,
    },
    at: 200,
    ...more,
  },
})

function tallied(records: Iterable<object>) {
  const tally = new UsageTally()
  for (const record of records) tally.add(readRecord(jsonBytes(record)))
  return tally.value()
}

const totals = (
  prompt_tokens: bigint,
  completion_tokens: bigint,
  cached_tokens: bigint,
  cache_write_tokens: bigint,
) => ({
  prompt_tokens,
  completion_tokens,
  cached_tokens,
  cache_write_tokens,
})

describe('usage', () => {
  it('of nothing is nothing', () => {
    const nothing = { source: 'none', by_model: [], by_stage: [], by_kind: [], series: [] }
    expect(tallied([])).toMatchObject({ ...nothing, totals: { calls: 0n, ...totals(0n, 0n, 0n, 0n) } })
  })

  it('is summed up by model, stage and kind, and over time', () => {
    const { source, ...sums } = tallied([
      usage(),
      usage({ model: 'm-2', kind: 'title', stage: '', at: 105 }),
      usage({ stage: 'build', at: 90 }),
    ])
    expect(source).toBe('InferenceUsage')
    expect(sums.totals).toEqual({ calls: 3n, ...totals(30n, 6n, 15n, 3n) })
    expect(sums.by_model).toMatchObject([
      { model: 'm-1', calls: 2n },
      { model: 'm-2', calls: 1n },
    ])
    expect(sums.by_stage.map(({ stage, prompt_tokens }) => [stage, prompt_tokens])).toEqual([
      ['plan', 10n],
      ['', 10n],
      ['build', 10n],
    ])
    expect(sums.by_kind).toMatchObject([
      { kind: 'stage', calls: 2n },
      { kind: 'title', calls: 1n },
    ])
    expect(sums.series.map(({ at, calls }) => [at, calls])).toEqual([
      [90n, 1n],
      [100n, 1n],
      [105n, 1n],
    ])
  })

  it.each([
    [
      'InferenceUsage',
      [
        header(),
        inference(),
        progress({ prompt_tokens: 10 }),
        usage(),
        inference(),
        progress({ prompt_tokens: 20 }),
      ],
      10n,
    ],
    [
      'Inference',
      [header(), progress({ prompt_tokens: 7 }), inference(), progress({ prompt_tokens: 9 })],
      7n,
    ],
    ['meta', [header({ prompt_tokens: 4 }), progress({ prompt_tokens: 9 })], 9n],
  ])('is told by %s alone where the run has it', (source, records, prompt_tokens) => {
    const told = tallied(records)
    expect(told).toMatchObject({ source, totals: { prompt_tokens } })
    for (const part of [told.by_model, told.by_stage, told.series]) {
      expect(part.reduce((sum, entry) => sum + BigInt(entry.prompt_tokens), 0n)).toBe(prompt_tokens)
    }
  })

  it('of counters goes to the stage and model they grew in, and nobody knows of how many calls', () => {
    const { totals, by_stage, by_model, by_kind, series } = tallied([
      header({ prompt_tokens: 4 }),
      progress({ prompt_tokens: 10, current_stage: 'build' }, 50),
      progress({ prompt_tokens: 25, current_stage: 'build', model: null }, 60),
      progress({ prompt_tokens: 5, current_stage: 'plan' }, 70),
    ])
    expect(totals).toMatchObject({ calls: null, prompt_tokens: 5n })
    expect(by_stage).toMatchObject([
      { stage: 'plan', prompt_tokens: -16n },
      { stage: 'build', prompt_tokens: 21n },
    ])
    expect(by_model).toMatchObject([
      { model: 'm-1', prompt_tokens: -10n },
      { model: null, prompt_tokens: 15n },
    ])
    expect(by_kind).toEqual([])
    expect(series.map(({ at, prompt_tokens }) => [at, prompt_tokens])).toEqual([
      [1n, 4n],
      [50n, 6n],
      [60n, 15n],
      [70n, -20n],
    ])
  })

  it('is exact beyond 2^53', () => {
    const most = 2n ** 64n - 1n
    const { totals, by_model } = tallied([
      usage({ prompt_tokens: most }),
      usage({ prompt_tokens: most }),
      usage({ prompt_tokens: 1 }),
    ])
    expect(totals.prompt_tokens).toBe(2n * most + 1n)
    expect(by_model[0]?.prompt_tokens).toBe(2n * most + 1n)
  })

  it('over time has few buckets and an exact sum, whatever the times are', () => {
    const i64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    const times = fc.oneof(
      fc.array(i64, { maxLength: 700 }),
      fc.array(fc.bigInt(0n, 5000n), { maxLength: 3000 }),
    )
    fc.assert(
      fc.property(times, (all) => {
        const { series, bucket_s } = tallied(all.map((at) => usage({ at })))
        expect(series.length).toBeLessThanOrEqual(USAGE_BUCKETS_MAX)
        for (const { at, calls } of series) {
          const from = BigInt(at)
          expect(calls).toBe(
            BigInt(all.filter((time) => from <= time && time < from + BigInt(bucket_s)).length),
          )
        }
        expect(series.reduce((sum, { calls }) => sum + BigInt(calls ?? 0), 0n)).toBe(BigInt(all.length))
      }),
      { numRuns: 20 },
    )
  })

  it('has no more names than the limit, and none that is long', () => {
    const { by_model, totals } = tallied(
      Array.from({ length: USAGE_NAMES_MAX + 500 }, (_, n) => usage({ model: `${n}`.padEnd(5000, 'x') })),
    )
    expect(by_model).toHaveLength(USAGE_NAMES_MAX + 1)
    expect(by_model.at(-1)).toMatchObject({ model: null, calls: 500n })
    expect(by_model[0]?.model).toHaveLength(1024)
    expect(totals.calls).toBe(BigInt(USAGE_NAMES_MAX + 500))
  })

  it('wants no record that cannot count any more', () => {
    const tally = new UsageTally()
    const wanted = () =>
      (['Header', 'Inference', 'InferenceUsage', 'Message'] as const).filter((kind) => tally.wants(kind))
    expect(wanted()).toEqual(['Header', 'Inference', 'InferenceUsage'])
    tally.add(readRecord(jsonBytes(inference())))
    expect(wanted()).toEqual(['Inference', 'InferenceUsage'])
    tally.add(readRecord(jsonBytes(usage())))
    expect(wanted()).toEqual(['InferenceUsage'])
  })
})
