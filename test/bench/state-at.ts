import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Figures, median, rounded } from './figures.ts'
import { writeLongRuns } from './long-run.ts'
import { startBenchServer } from './server.ts'

const RUNS = { ten_thousand: 10_000, million: 1_000_000 } as const
const ROUNDS = 150
const PARTS = 'parts=identity,meta,context,pending_batch'

/** What can be asked of a moment of a run of so many frames, `x` being from 0 to 1. */
const QUESTIONS: Record<string, (x: number, frames: number) => string> = {
  state: (x, frames) => `fold?${PARTS}&seq=${2 + Math.floor(x * (frames - 2))}`,
  point: (x, frames) => `points/${Math.floor((x * (frames - 8)) / 4)}`,
  time: (x, frames) => `fold?${PARTS}&at=${1 + Math.floor((x * (frames - 8)) / 4)}`,
  records: (x, frames) => `records?limit=10&from=${Math.floor(x * frames)}`,
  present: () => `fold?${PARTS}`,
}

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
    return await measure(join(folder, 'data'), log)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(data: string, log: (line: string) => void): Promise<Figures> {
  const server = await startBenchServer(data)
  try {
    const figures: Figures = {}
    for (const [name, ask] of Object.entries(QUESTIONS)) {
      const ms: Record<keyof typeof RUNS, number[]> = { ten_thousand: [], million: [] }
      for (let round = 0; round < ROUNDS; round++) {
        const x = (round * 0.618_034) % 1
        for (const run of ['ten_thousand', 'million'] as const) {
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
      figures[`${name}_exponent`] = rounded(
        Math.log(long / short) / Math.log(RUNS.million / RUNS.ten_thousand),
        3,
      )
    }
    figures.million_vs_ten_thousand = figures.state_million_vs_ten_thousand ?? Number.NaN
    return figures
  } finally {
    await server.stop()
  }
}
