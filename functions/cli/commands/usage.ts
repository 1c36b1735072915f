import type { Tokens, UsageAnswer } from '#schema'
import { examples, type Verb } from '../command.ts'
import type { Output } from '../output.ts'
import { plain } from '../plain.ts'
import { withReading } from '../reading/reading.ts'
import { sparkline } from '../sparkline.ts'
import { type Column, printFacts, printTable } from '../table.ts'
import { unixTime } from '../time.ts'

const LINE_WIDTH = 60

export const usage: Verb = (program, act) =>
  program
    .command('usage <run|file>')
    .summary('the tokens a run has used')
    .description(
      'Sums up the tokens that a run has used, by model, stage and kind and over time. Each call is counted once, from ' +
        'the records that tell most of it; the source says which.',
    )
    .addHelpText(
      'after',
      examples('usage fix-login-7f3a', 'usage run.lvr', 'usage fix-login-7f3a --json | jq .totals'),
    )
    .action(
      act((session, target: string) =>
        withReading(session, target, async (reading) => {
          const { out, json } = session
          const answer = await reading.usage()
          await (json ? out.json(answer) : print(out, plain<UsageAnswer>(answer)))
        }),
      ),
    )

const SOURCES: Readonly<Record<UsageAnswer['source'], string>> = {
  InferenceUsage: 'InferenceUsage records',
  Inference: 'Inference records',
  meta: 'the counters of the run’s meta',
  none: 'no record tells of any call',
}

const print = async (out: Output, answer: UsageAnswer): Promise<void> => {
  const { totals, by_model, by_stage, by_kind, series, source } = answer
  await printFacts(out, [
    ['run', answer.run_id],
    ['source', SOURCES[source]],
    ['over time', series.length > 0 ? sparkline(series.map(barOf), LINE_WIDTH) : null],
    ['from', unixTime(series[0]?.at)],
    ['to', unixTime(series.at(-1)?.at)],
  ])
  await printSums(out, 'ALL', [{ name: '', ...totals }])
  await printSums(
    out,
    'MODEL',
    by_model.map(({ model, ...sums }) => ({ name: model, ...sums })),
  )
  await printSums(
    out,
    'STAGE',
    by_stage.map(({ stage, ...sums }) => ({ name: stage, ...sums })),
  )
  await printSums(
    out,
    'KIND',
    by_kind.map(({ kind, ...sums }) => ({ name: kind, ...sums })),
  )
}

const barOf = ({ at, prompt_tokens, completion_tokens }: UsageAnswer['series'][number]) => ({
  at: Number(at),
  value: Number(prompt_tokens) + Number(completion_tokens),
})

interface Row extends Tokens {
  readonly name: string | null
}

const printSums = async (out: Output, title: string, rows: readonly Row[]): Promise<void> => {
  if (rows.length === 0) return
  await out.line()
  const sum = (column: string, value: (row: Row) => unknown): Column<Row> => ({
    title: column,
    value,
    align: 'right',
  })
  await printTable<Row>(
    out,
    [
      { title, value: ({ name }) => name },
      sum('CALLS', ({ calls }) => calls),
      sum('PROMPT', ({ prompt_tokens }) => prompt_tokens),
      sum('CACHED', ({ cached_tokens }) => cached_tokens),
      sum('CACHE WRITE', ({ cache_write_tokens }) => cache_write_tokens),
      sum('COMPLETION', ({ completion_tokens }) => completion_tokens),
    ],
    rows,
    '',
  )
}
