import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import { type Figures, type Measured, measureApart, median, rounded } from './figures.ts'

const TASK = new URL('./fold-task.ts', import.meta.url)
const TASKS = ['json_parse', 'walk', 'read', 'fold', 'replay', 'points_streamed'] as const
const SIZES = [
  { records: 2_000, rounds: 5 },
  { records: 50_000, rounds: 3 },
]

/**
 * Walk, validating read, fold, whole replay (every point kept) and streamed points, against `JSON.parse` of each frame
 * with the result dropped. All in turn within one round; ratios are medians over the rounds.
 */
export async function foldBench(log: (line: string) => void): Promise<Figures> {
  const figures: Figures = {}
  for (const { records, rounds } of SIZES) {
    const file = await archiveFile(records)
    const megabytes = statSync(file).size / 1e6
    log(`fold: ${records} records, ${megabytes.toFixed(1)} MB, ${rounds} rounds`)
    const runs: Record<string, Measured[]> = {}
    for (let round = 0; round < rounds; round++) {
      for (const task of TASKS) {
        const measured = await measureApart(TASK, task, file)
        log(
          `  ${task.padEnd(16)} ${(megabytes / measured.seconds).toFixed(0).padStart(6)} MB/s  ${(measured.peakBytes / 2 ** 20).toFixed(0).padStart(5)} MiB`,
        )
        runs[task] = [...(runs[task] ?? []), measured]
      }
    }
    const base = runs.json_parse ?? []
    figures[`file_mb_${records}`] = rounded(megabytes)
    for (const task of TASKS) {
      const measured = runs[task] ?? []
      figures[`${task}_mb_s_${records}`] = rounded(megabytes / median(measured.map((m) => m.seconds)), 0)
      figures[`${task}_peak_mib_${records}`] = rounded(median(measured.map((m) => m.peakBytes)) / 2 ** 20, 0)
      if (task === 'json_parse') continue
      const ratios = measured.map((m, round) => (base[round]?.seconds ?? Number.NaN) / m.seconds)
      figures[`${task}_vs_json_parse_${records}`] = rounded(median(ratios))
    }
  }
  figures.fold_vs_json_parse = figures.fold_vs_json_parse_50000 ?? Number.NaN
  return figures
}

/** The generated archive, kept in the temporary folder between runs: the same seed gives the same bytes. */
async function archiveFile(records: number): Promise<string> {
  const file = join(tmpdir(), `runfold-bench-${records}.lvr`)
  if (existsSync(file)) return file
  const fresh = `${file}.${process.pid}`
  await pipeline(Readable.from(demoArchive({ seed: 7, records })), createWriteStream(fresh))
  renameSync(fresh, file)
  return file
}
