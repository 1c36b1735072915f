import { createReadStream, statSync } from 'node:fs'
import { readStream } from '#codec'
import { points } from '#fold'
import { archiveFile } from './archive-file.ts'
import { type Figures, type Measured, measureApart, median, rounded } from './figures.ts'

const TASK = new URL('./fold-task.ts', import.meta.url)
/** What each task is measured against: the same question, answered by `JSON.parse` of every frame. */
const BASES = {
  json_parse: undefined,
  walk: 'json_parse',
  read: 'json_parse',
  json_parse_fold: 'json_parse',
  fold_trusted: 'json_parse_fold',
  fold: 'json_parse_fold',
  full_window_replay: 'json_parse_fold',
  replay: 'full_window_replay',
  json_parse_points_streamed: 'json_parse',
  points_trusted_streamed: 'json_parse_points_streamed',
  points_streamed: 'json_parse_points_streamed',
} as const
type Task = keyof typeof BASES
/** Tasks that must answer the same, byte for byte. */
const SAME: readonly (readonly Task[])[] = [
  ['json_parse_fold', 'fold', 'fold_trusted'],
  ['json_parse_points_streamed', 'points_streamed', 'points_trusted_streamed'],
]
interface Answered extends Measured {
  /** What the task's own thread worked; other programs on the machine make it no longer. */
  readonly threadSeconds: number
  /** What it takes the first time in a process, its code not compiled yet. */
  readonly coldSeconds: number
  /** A digest; null where the task gives no JSON. */
  readonly answer: string | null
}
const TASKS = Object.keys(BASES) as readonly Task[]
const SIZES = [
  { records: 2_000, rounds: 5 },
  { records: 50_000, rounds: 5 },
]

/**
 * Walk, read, fold, whole replay (every point kept; beside it one that writes the full window of every point, as the
 * reference does) and streamed summary points, each checking every byte or trusting
 * what was checked before, against plain `JSON.parse` folds. All in turn within one round; ratios are medians over the
 * rounds, and `fold_vs_json_parse` is that of the trusted fold; those named `thread` are of the time that the tasks' own threads
 * worked, those named `cold` of what a process takes that has just begun. Folds and points must answer the same as their peers, byte for
 * byte, or nothing is told.
 */
export async function foldBench(log: (line: string) => void): Promise<Figures> {
  const figures: Figures = {}
  for (const { records, rounds } of SIZES) {
    const file = await archiveFile(records)
    const megabytes = statSync(file).size / 1e6
    log(`fold: ${records} records, ${megabytes.toFixed(1)} MB, ${rounds} rounds`)
    const runs = Object.fromEntries(TASKS.map((task) => [task, []])) as unknown as Record<Task, Answered[]>
    const count = await countPoints(file)
    for (let round = 0; round < rounds; round++) {
      for (const task of TASKS) {
        const measured = (await measureApart(TASK, task, file, String(count))) as Answered
        log(
          `  ${task.padEnd(26)} ${(megabytes / measured.seconds).toFixed(0).padStart(6)} MB/s  ${(measured.peakBytes / 2 ** 20).toFixed(0).padStart(5)} MiB`,
        )
        runs[task].push(measured)
      }
    }
    for (const same of SAME) agree(same.flatMap((task) => runs[task]))
    figures[`file_mb_${records}`] = rounded(megabytes)
    for (const task of TASKS) {
      const measured = runs[task]
      figures[`${task}_mb_s_${records}`] = rounded(megabytes / median(measured.map((m) => m.seconds)), 0)
      figures[`${task}_peak_mib_${records}`] = rounded(median(measured.map((m) => m.peakBytes)) / 2 ** 20, 0)
      const base = BASES[task]
      if (base === undefined) continue
      const ratio = (of: (run: Answered) => number) =>
        rounded(median(measured.map((run, round) => of(runs[base][round] as Answered) / of(run))))
      figures[`${task}_vs_${base}_${records}`] = ratio((run) => run.seconds)
      figures[`${task}_vs_${base}_thread_${records}`] = ratio((run) => run.threadSeconds)
      figures[`${task}_vs_${base}_cold_${records}`] = ratio((run) => run.coldSeconds)
    }
  }
  for (const [name, figure] of Object.entries(HEADLINES)) {
    figures[`${name}_vs_json_parse`] = figures[`${figure}_50000`] ?? Number.NaN
    figures[`${name}_vs_json_parse_thread`] = figures[`${figure}_thread_50000`] ?? Number.NaN
    figures[`${name}_vs_json_parse_cold`] = figures[`${figure}_cold_50000`] ?? Number.NaN
  }
  return figures
}

const HEADLINES = {
  fold: 'fold_trusted_vs_json_parse_fold',
  checked_fold: 'fold_vs_json_parse_fold',
  points: 'points_trusted_streamed_vs_json_parse_points_streamed',
}

/** A ratio of different answers would be worth nothing. */
function agree(runs: readonly Answered[]): void {
  const answers = new Set(runs.map(({ answer }) => answer))
  if (answers.size !== 1 || answers.has(null)) throw new Error('the folds do not give the same answer')
}

async function countPoints(file: string): Promise<number> {
  let last = -1
  for await (const { point } of points(readStream(createReadStream(file)))) last = point
  return last + 1
}
