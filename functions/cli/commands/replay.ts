import { Option } from 'commander'
import type { DeltaPoint, FullPoint, SummaryPoint } from '#schema'
import { countingNumber, examples, type Verb, wholeNumber } from '../command.ts'
import type { Output } from '../output.ts'
import { plain } from '../plain.ts'
import { type Shape, withReading } from '../reading/reading.ts'
import { printTable } from '../table.ts'
import { unixTime } from '../time.ts'
import { UsageError } from '../usage-error.ts'
import { printDelta, printEntries, printRegions } from '../window-text.ts'

interface ReplayOptions {
  readonly shape: Shape
  readonly point?: number
  readonly from?: number
  readonly step?: number
}

const SHAPES: readonly Shape[] = ['summary', 'full', 'delta']

export const replay: Verb = (program, act) =>
  program
    .command('replay <run|file>')
    .summary('the context window, point by point')
    .description(
      'Replays the context window of a run, or of a local .lvr file, point by point. With --json a point a line.',
    )
    .addOption(new Option('--shape <shape>', 'what to show of each point').choices(SHAPES).default('summary'))
    .option('--point <n>', 'only this point, its window in full', wholeNumber)
    .option('--from <n>', 'begin at this point', wholeNumber)
    .addOption(
      new Option('--step <n>', 'every Nth point and the last (not with shape delta)').argParser(
        countingNumber,
      ),
    )
    .addHelpText(
      'after',
      examples('replay fix-login-7f3a', 'replay run.lvr --point 12', 'replay run.lvr --shape delta --json'),
    )
    .action(
      act(async (session, target: string, { point, ...wanted }: ReplayOptions) => {
        if (wanted.shape === 'delta' && wanted.step !== undefined) {
          throw new UsageError('--step does not go with --shape delta')
        }
        return withReading(session, target, async (reading) => {
          const { out, json } = session
          if (point !== undefined) {
            const one = await reading.point(point)
            return json ? out.json(one) : printWindow(out, plain(one))
          }
          const points = reading.points(wanted)
          if (json) for await (const each of points) await out.json(each)
          else if (wanted.shape === 'summary') await printSummaries(out, points)
          else for await (const each of points) await printChange(out, plain(each))
        })
      }),
    )

const printSummaries = (out: Output, points: AsyncIterable<unknown>): Promise<void> =>
  printTable<SummaryPoint>(
    out,
    [
      { title: 'POINT', value: (row) => row.point, align: 'right' },
      { title: 'SEQ', value: (row) => row.seq, align: 'right' },
      { title: 'AT', value: (row) => unixTime(row.at) },
      { title: 'STATUS', value: (row) => row.status },
      { title: 'ITER', value: (row) => row.iteration, align: 'right' },
      { title: 'STAGE', value: (row) => row.stage_name, width: 16 },
      { title: 'TOKENS', value: (row) => row.total_tokens, align: 'right' },
      {
        title: 'REGIONS',
        value: (row) => row.regions.map((one) => `${one.name} ${one.entries}`).join(', '),
        width: 80,
      },
    ],
    points as AsyncIterable<SummaryPoint>,
    'no points',
  )

const printChange = async (out: Output, point: FullPoint | DeltaPoint): Promise<void> => {
  await out.line(titleOf(out, point))
  await ('delta' in point ? printDelta(out, point.delta) : printRegions(out, point.context))
  await out.line()
}

const printWindow = async (out: Output, point: FullPoint): Promise<void> => {
  await out.line(titleOf(out, point))
  await printRegions(out, point.context)
  await printEntries(out, point.context)
}

const titleOf = (out: Output, { point, seq, at, meta }: FullPoint | DeltaPoint): string =>
  out.paint(
    'bold',
    `point ${point}, seq ${seq}, ${unixTime(at)}, ${meta.status}, iteration ${meta.iteration}`,
  )
