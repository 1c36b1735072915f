import { spawn } from 'node:child_process'
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { archiveFile } from './archive-file.ts'
import { type Figures, median, rounded, timed } from './figures.ts'
import { startBenchServer, TOKEN } from './server.ts'

const CLI = new URL('../../functions/cli/main.ts', import.meta.url).pathname
const RECORDS = 50_000
const ROUNDS = 3

/** `runfold push` and `runfold pull` of a run of 50,000 records, against copying the same file and waiting for the disk. */
export async function pushBench(log: (line: string) => void): Promise<Figures> {
  const file = await archiveFile(RECORDS)
  const megabytes = statSync(file).size / 1e6
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-push-'))
  const server = await startBenchServer(join(folder, 'data'))
  try {
    const seconds: Record<'copy' | 'push' | 'pull', number[]> = { copy: [], push: [], pull: [] }
    for (let round = 0; round < ROUNDS; round++) {
      seconds.copy.push((await timed(() => copied(file, join(folder, 'copy.lvr')))) / 1000)
      seconds.push.push((await timed(() => cli(server.url, 'push', file, '--run', `bench-${round}`))) / 1000)
      const pulled = join(folder, `pulled-${round}.lvr`)
      seconds.pull.push((await timed(() => cli(server.url, 'pull', `bench-${round}`, pulled))) / 1000)
      if (statSync(pulled).size !== statSync(file).size)
        throw new Error('what was pulled is not what was pushed')
      log(
        `push: round ${round}: ${(['copy', 'push', 'pull'] as const)
          .map((name) => `${name} ${(megabytes / (seconds[name].at(-1) ?? Number.NaN)).toFixed(0)} MB/s`)
          .join(', ')}`,
      )
    }
    const rate = (name: keyof typeof seconds) => rounded(megabytes / median(seconds[name]), 0)
    const ratios = seconds.push.map((pushed, round) => pushed / (seconds.copy[round] ?? Number.NaN))
    return {
      push_file_mb: rounded(megabytes, 0),
      push_mb_s: rate('push'),
      pull_mb_s: rate('pull'),
      copy_mb_s: rate('copy'),
      push_seconds_vs_copy: rounded(median(ratios)),
      push_server_peak_mib: rounded(server.peakBytes() / 2 ** 20, 0),
    }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function copied(from: string, to: string): Promise<void> {
  await pipeline(createReadStream(from, { highWaterMark: 1 << 20 }), createWriteStream(to))
  const file = await open(to, 'r+')
  await file.sync()
  await file.close()
}

function cli(url: string, ...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      env: { ...process.env, RUNFOLD_URL: url, RUNFOLD_TOKEN: TOKEN },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.once('error', reject)
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`runfold ${args.join(' ')} ended with ${code}`)),
    )
  })
}
