import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Figures, type Measured, measureApart, median, rounded } from './figures.ts'
import { writeLongRuns } from './long-run.ts'
import { QUESTIONS, RUNS, type Run } from './questions.ts'
import { startBenchServer } from './server.ts'

const ROUNDS = 150
/**
 * The state at random moments of a short and of a long run, through HTTP on the local store, in turn: P8 says that they
 * cost the same. Nothing of a past state is kept by the server, so those answers are cold; the present one is warm. The
 * exponents are those of time against the run's length, 0 where it does not matter.
 */
export async function stateAtBench(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-state-'))
  try {
    const started = performance.now()
    await writeLongRuns(join(folder, 'data'), RUNS)
    log(`state-at: written in ${((performance.now() - started) / 1000).toFixed(1)} s`)
    const figures = await measure(join(folder, 'data'), log)
    return { ...figures, ...(await measureWork(join(folder, 'data'), log)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(data: string, log: (line: string) => void): Promise<Figures> {
  const server = await startBenchServer(data)
  try {
    const figures: Figures = {}
    for (const [name, ask] of Object.entries(QUESTIONS)) {
      const ms: Record<Run, number[]> = { ten_thousand: [], million: [] }
      for (let round = 0; round < ROUNDS; round++) {
        const x = (round * 0.618_034) % 1
        for (const run of Object.keys(RUNS) as Run[]) {
          const began = performance.now()
          await server.json('GET', `/v1/runs/${run}/${ask(x, RUNS[run])}`, undefined)
          ms[run].push(performance.now() - began)
        }
      }
      const [short, long] = [median(ms.ten_thousand), median(ms.million)]
      log(
        `state-at: ${name.padEnd(8)} ${short.toFixed(2)} ms of 10,000 frames, ${long.toFixed(2)} ms of 1,000,000`,
      )
      figures[`${name}_ten_thousand_ms`] = rounded(short)
      figures[`${name}_million_ms`] = rounded(long)
      figures[`${name}_million_vs_ten_thousand`] = rounded(long / short)
      figures[`${name}_exponent`] = exponentOf(short, long)
    }
    figures.million_vs_ten_thousand = figures.state_million_vs_ten_thousand ?? Number.NaN
    return figures
  } finally {
    await server.stop()
  }
}

const TASK = new URL('./read-task.ts', import.meta.url)

interface Work extends Measured {
  readonly requests: number
  readonly bytes: number
}

/** Requests, bytes and memory of every kind of read, each in a process of its own, against the run's length. */
async function measureWork(data: string, log: (line: string) => void): Promise<Figures> {
  const figures: Figures = {}
  for (const question of Object.keys(QUESTIONS)) {
    const short = (await measureApart(TASK, data, 'ten_thousand', question)) as Work
    const long = (await measureApart(TASK, data, 'million', question)) as Work
    const exponent = (of: (work: Work) => number) => exponentOf(of(short), of(long))
    log(
      `state-at: ${question.padEnd(8)} ${short.requests.toFixed(1)} and ${long.requests.toFixed(1)} requests, ${kib(short.bytes)} and ${kib(long.bytes)} KiB read, ${kib(short.peakBytes / 1024)} and ${kib(long.peakBytes / 1024)} MiB over idle`,
    )
    figures[`${question}_requests_exponent`] = exponent(({ requests }) => requests)
    figures[`${question}_bytes_exponent`] = exponent(({ bytes }) => Math.max(1, bytes))
    figures[`${question}_memory_exponent`] = exponent(({ peakBytes }) => Math.max(1, peakBytes))
  }
  return figures
}

const kib = (bytes: number) => Math.round(bytes / 1024)

const exponentOf = (short: number, long: number): number =>
  rounded(Math.log(long / short) / Math.log(RUNS.million / RUNS.ten_thousand), 3)
