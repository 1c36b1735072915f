import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, Redacted } from '#client'
import { type Figures, rounded } from './figures.ts'
import { startBenchServer, TOKEN } from './server.ts'
import { appendMore, MORE, messagesIn, sessionFile, workOfAppend, writeSession } from './session-append.ts'

const MESSAGES = 8192
const SIZES = [100, 1000]
const ROOT = new URL('../../', import.meta.url).pathname
/** The program as it is shipped: running from source costs memory of its own. */
const CLI = join(ROOT, 'functions/cli/runfold.js')

/**
 * What four more messages cost to a session of 8,192, and to sessions of 100 MB and 1 GB, and a pass that finds nothing. The
 * large ones then through the program and a server of their own, with the memory of both at its highest.
 */
export async function sessionsBench(log: (line: string) => void): Promise<Figures> {
  execFileSync('npm', ['run', '-s', 'build:cli'], { cwd: ROOT, stdio: 'ignore' })
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-sessions-'))
  try {
    const figures: Figures = {}
    const tellAppended = async (messages: number, size = '') => {
      const work = await workOfAppend(join(folder, `work${size}`), messages)
      log(`sessions: ${MORE} to ${messages.toLocaleString('en')} messages: ${JSON.stringify(work)}`)
      for (const [name, value] of Object.entries(work)) figures[name + size] = value
    }
    await tellAppended(MESSAGES)
    for (const megabytes of SIZES) {
      await tellAppended(messagesIn(megabytes), `_${megabytes}mb`)
      Object.assign(figures, await large(join(folder, `${megabytes}`), megabytes, log))
    }
    return figures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function large(folder: string, megabytes: number, log: (line: string) => void): Promise<Figures> {
  const file = sessionFile(folder)
  const messages = messagesIn(megabytes)
  writeSession(file, messages)
  const bytes = statSync(file).size
  const server = await startBenchServer(join(folder, 'data'))
  try {
    const first = await sync(folder, server.url)
    const document = await timed(() => lengthOfDocument(server.url))
    appendMore(file, messages)
    const more = await sync(folder, server.url)
    const again = await timed(() => lengthOfDocument(server.url))
    const idle = await sync(folder, server.url)
    const peak = Math.max(first.peakBytes, more.peakBytes)
    log(
      `sessions: ${megabytes} MB: sent in ${first.seconds.toFixed(1)} s, ${MORE} more in ${more.seconds.toFixed(2)} s, nothing in ${idle.seconds.toFixed(2)} s, document of ${(document.value / 1e6).toFixed(0)} MB in ${document.seconds.toFixed(1)} s, with ${MORE} more in ${again.seconds.toFixed(1)} s; client ${(peak / 2 ** 20).toFixed(0)} MiB, server ${(server.peakBytes() / 2 ** 20).toFixed(0)} MiB`,
    )
    return {
      [`sync_mb_s_${megabytes}mb`]: rounded(bytes / 1e6 / first.seconds, 1),
      [`sync_append_ms_${megabytes}mb`]: rounded(more.seconds * 1000, 0),
      [`sync_idle_ms_${megabytes}mb`]: rounded(idle.seconds * 1000, 0),
      [`document_s_${megabytes}mb`]: rounded(document.seconds, 1),
      [`document_again_s_${megabytes}mb`]: rounded(again.seconds, 1),
      [`client_peak_mib_${megabytes}mb`]: rounded(peak / 2 ** 20, 0),
      [`server_peak_mib_${megabytes}mb`]: rounded(server.peakBytes() / 2 ** 20, 0),
    }
  } finally {
    await server.stop()
  }
}

/** `runfold sync` as a user runs it. */
function sync(home: string, url: string): Promise<{ seconds: number; peakBytes: number }> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(process.execPath, [CLI, 'sync', '--machine', 'bench'], {
      env: {
        ...process.env,
        HOME: home,
        XDG_STATE_HOME: join(home, 'state'),
        RUNFOLD_URL: url,
        RUNFOLD_TOKEN: TOKEN,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    let peakBytes = 0
    const looking = setInterval(() => {
      peakBytes = Math.max(peakBytes, peakOf(child.pid))
    }, 20)
    child.once('error', reject)
    child.once('exit', (code) => {
      clearInterval(looking)
      if (code === 0) resolve({ seconds: (performance.now() - began) / 1000, peakBytes })
      else reject(new Error(`runfold sync ended with ${code}`))
    })
  })
}

function peakOf(pid: number | undefined): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

async function timed<T>(act: () => Promise<T>): Promise<{ readonly value: T; readonly seconds: number }> {
  const began = performance.now()
  const value = await act()
  return { value, seconds: (performance.now() - began) / 1000 }
}

async function lengthOfDocument(url: string): Promise<number> {
  const client = createClient({ url, token: new Redacted(TOKEN) })
  const { chunks } = await client.sessionDocument({ harness: 'claude-code', id: 's' })
  let length = 0
  for await (const chunk of chunks) length += chunk.length
  return length
}
