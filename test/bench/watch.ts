import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import { type Figures, rounded } from './figures.ts'
import { startBenchServer, TOKEN } from './server.ts'

const RUNS = 5000
/** A whole round of the slow poll. */
const IDLE_MS = 60_000
const ROOT = new URL('../../', import.meta.url).pathname
/** The program as it is shipped: running from source costs memory of its own. */
const CLI = join(ROOT, 'functions/cli/runfold.js')

/** `runfold watch` on 5,000 runs that are all on the server: what it takes of processor and memory while nothing happens. */
export async function watchBench(log: (line: string) => void): Promise<Figures> {
  execFileSync('npm', ['run', '-s', 'build:cli'], { cwd: ROOT, stdio: 'ignore' })
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-watch-'))
  const server = await startBenchServer(join(folder, 'data'))
  try {
    makeRuns(join(folder, 'runs'))
    const mine = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
    const env = { ...process.env, ...mine, RUNFOLD_URL: server.url, RUNFOLD_TOKEN: TOKEN }
    const watcher = spawn(process.execPath, [CLI, 'watch', join(folder, 'runs'), '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => watcher.once('exit', resolve))
    const began = performance.now()
    let shipped = 0
    for await (const line of createInterface(watcher.stdout)) {
      if (JSON.parse(line).event !== 'shipped') continue
      shipped++
      if (shipped % 1000 === 0) log(`watch: ${shipped} runs are on the server`)
      if (shipped === RUNS) break
    }
    const seconds = (performance.now() - began) / 1000
    const pid = watcher.pid as number
    const before = cpuMs(pid)
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    const idle = (cpuMs(pid) - before) / IDLE_MS
    const figures = {
      idle_cpu_percent: rounded(idle * 100),
      rss_mb: rounded(memory(pid, 'VmRSS') / 1e6, 0),
      peak_rss_mb: rounded(memory(pid, 'VmHWM') / 1e6, 0),
      first_send_runs_per_s: rounded(RUNS / seconds, 0),
    }
    watcher.kill('SIGTERM')
    await ended
    return figures
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function makeRuns(folder: string): void {
  for (let n = 0; n < RUNS; n++) {
    const run = join(folder, `run-${String(n).padStart(4, '0')}`)
    mkdirSync(run, { recursive: true })
    writeFileSync(join(run, 'run.lvr'), Buffer.concat([...demoArchive({ seed: n + 1, records: 8 })]))
  }
}

/** Processor time of a process so far, user and system. Linux counts it in hundredths of a second. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function memory(pid: number, name: string): number {
  return (
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) *
    1024
  )
}
