import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Figures, median, rounded } from './figures.ts'
import { writeManyRuns } from './many-runs.ts'
import { type BenchServer, startBenchServer } from './server.ts'

const COUNTS = { ten_thousand: 10_000, million: 1_000_000 } as const
type Size = keyof typeof COUNTS
const ROUNDS = 40
const WALKED_PAGES = 100

/** What is asked of a listing; `rare` uses up the budget of a scan and says so. */
const QUESTIONS: Record<string, string> = {
  page: 'limit=50',
  oldest: 'limit=50&order=asc',
  agent: 'limit=50&agent=agent-3',
  rare: 'limit=50&q=nobody-wrote-this',
}

/** Listing a store of 10,000 and one of a million runs through HTTP, in turn; nothing but the index is read. */
export async function listBench(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-list-'))
  const servers: Partial<Record<Size, BenchServer>> = {}
  try {
    const sizes = Object.keys(COUNTS) as Size[]
    for (const size of sizes) {
      await writeManyRuns(join(folder, size), COUNTS[size])
      servers[size] = await startBenchServer(join(folder, size))
    }
    const asked = async (size: Size, query: string) => {
      const began = performance.now()
      const answer = await servers[size]?.json('GET', `/v1/runs?${query}`, undefined)
      return { ms: performance.now() - began, cursor: answer?.next_cursor }
    }
    const figures: Figures = {}
    for (const [name, query] of Object.entries(QUESTIONS)) {
      const ms: Record<Size, number[]> = { ten_thousand: [], million: [] }
      for (let round = 0; round < ROUNDS; round++)
        for (const size of sizes) ms[size].push((await asked(size, query)).ms)
      const [short, long] = [median(ms.ten_thousand), median(ms.million)]
      log(`list: ${name.padEnd(7)} ${short.toFixed(2)} ms of 10,000 runs, ${long.toFixed(2)} ms of 1,000,000`)
      figures[`list_${name}_million_ms`] = rounded(long)
      figures[`list_${name}_million_vs_ten_thousand`] = rounded(long / short)
    }
    figures.list_walk_page_million_ms = rounded(await walk((query) => asked('million', query)))
    figures.list_server_peak_mib = rounded((servers.million?.peakBytes() ?? 0) / 2 ** 20, 0)
    return figures
  } finally {
    for (const server of Object.values(servers)) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns the median of a page, deep into the listing */
async function walk(ask: (query: string) => Promise<{ ms: number; cursor: unknown }>): Promise<number> {
  const pages: number[] = []
  let cursor: unknown
  for (let page = 0; page < WALKED_PAGES; page++) {
    const answer = await ask(`limit=200${cursor ? `&cursor=${encodeURIComponent(String(cursor))}` : ''}`)
    pages.push(answer.ms)
    cursor = answer.cursor
  }
  return median(pages)
}
