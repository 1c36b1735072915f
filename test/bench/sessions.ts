import { spawn } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createClient, Redacted } from '#client'
import { createSessionArchive } from '#sessions/archive'
import { createArchive, createTokens, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { createApp } from '../../functions/api/app.ts'
import { LOCAL_LIMITS } from '../../functions/api/limits.ts'
import { openSync as openSessionSync } from '../../functions/daemon/sync/open-sync.ts'
import { claudeRow } from '../shared/sessions/archive/rows.ts'
import { type Figures, rounded } from './figures.ts'
import { startBenchServer, TOKEN } from './server.ts'

const MESSAGES = 8192
const MORE = 4
const SIZES = [100, 1000]
const MESSAGE_BYTES = 1000
const CLI = new URL('../../functions/cli/main.ts', import.meta.url).pathname

const text = 'something that somebody said to somebody else, at some length. '.repeat(13)
const row = (n: number) => claudeRow(n, `${n} ${text}`)

/**
 * What four more messages cost to a session of 8,192, and a pass that finds nothing: bytes read of the source, bytes sent, and
 * records parsed by the server. Then sessions of 100 MB and 1 GB through the CLI and a server of their own, with the memory
 * of both at its highest.
 */
export async function sessionsBench(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-sessions-'))
  try {
    const figures = await appended(join(folder, 'small'))
    log(`sessions: 4 to 8,192 messages: ${JSON.stringify(figures)}`)
    for (const megabytes of SIZES)
      Object.assign(figures, await large(join(folder, `${megabytes}`), megabytes, log))
    return figures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function appended(folder: string): Promise<Figures> {
  const file = join(folder, '.claude/projects/-w/s.jsonl')
  write(file, MESSAGES)
  const { ports, close } = await openLocalStore(join(folder, 'data'))
  try {
    let parsed = 0
    const parts = { clock: systemClock, limits: LOCAL_LIMITS }
    const observe = (_session: unknown, work: { records_parsed: number }) => {
      parsed += work.records_parsed
    }
    const tokens = createTokens(ports.tokens, systemClock)
    await tokens.install(TOKEN)
    const app = createApp({
      archive: createArchive(ports, parts),
      sessions: createSessionArchive(ports, { ...parts, observe }),
      tokens,
      ...parts,
      features: ['sessions'],
      version: 'bench',
    })
    const url = 'http://bench.local'
    const token = new Redacted(TOKEN)
    const client = createClient({
      url,
      token,
      fetch: async (input, init) => app.fetch(new Request(input, init)),
    })
    const pass = async () => {
      using sync = await openSessionSync({
        client,
        url,
        env: { HOME: folder },
        machine: 'bench',
        looksForSecrets: true,
        refusesSecrets: false,
        verifies: false,
        isDry: false,
        signal: new AbortController().signal,
      })
      await sync.once({ synced: () => undefined })
      return sync.counters
    }
    await pass()
    const idle = await pass()
    parsed = 0
    appendFileSync(file, Array.from({ length: MORE }, (_, n) => row(MESSAGES + n)).join(''))
    const more = await pass()
    return {
      append_bytes_read: more.bytes_read,
      append_bytes_sent: more.bytes_sent,
      append_parsed: parsed,
      idle_bytes_read: idle.bytes_read,
      idle_requests: idle.requests,
    }
  } finally {
    close()
  }
}

async function large(folder: string, megabytes: number, log: (line: string) => void): Promise<Figures> {
  const file = join(folder, '.claude/projects/-w/s.jsonl')
  const messages = megabytes * (1_000_000 / MESSAGE_BYTES)
  write(file, messages)
  const bytes = statSync(file).size
  const server = await startBenchServer(join(folder, 'data'))
  try {
    const first = await sync(folder, server.url)
    appendFileSync(file, Array.from({ length: MORE }, (_, n) => row(messages + n)).join(''))
    const more = await sync(folder, server.url)
    const idle = await sync(folder, server.url)
    const began = performance.now()
    const documentBytes = await lengthOfDocument(server.url)
    const seconds = (performance.now() - began) / 1000
    const peak = Math.max(first.peakBytes, more.peakBytes)
    log(
      `sessions: ${megabytes} MB: sent in ${first.seconds.toFixed(1)} s, 4 more in ${more.seconds.toFixed(2)} s, nothing in ${idle.seconds.toFixed(2)} s, document of ${(documentBytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s; client ${(peak / 2 ** 20).toFixed(0)} MiB, server ${(server.peakBytes() / 2 ** 20).toFixed(0)} MiB`,
    )
    return {
      [`sync_mb_s_${megabytes}mb`]: rounded(bytes / 1e6 / first.seconds, 1),
      [`sync_append_ms_${megabytes}mb`]: rounded(more.seconds * 1000, 0),
      [`sync_idle_ms_${megabytes}mb`]: rounded(idle.seconds * 1000, 0),
      [`document_s_${megabytes}mb`]: rounded(seconds, 1),
      [`client_peak_mib_${megabytes}mb`]: rounded(peak / 2 ** 20, 0),
      [`server_peak_mib_${megabytes}mb`]: rounded(server.peakBytes() / 2 ** 20, 0),
    }
  } finally {
    await server.stop()
  }
}

function write(path: string, messages: number): void {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'w')
  for (let n = 0; n < messages; n += 1000)
    writeSync(file, Array.from({ length: Math.min(1000, messages - n) }, (_, i) => row(n + i)).join(''))
  closeSync(file)
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

async function lengthOfDocument(url: string): Promise<number> {
  const client = createClient({ url, token: new Redacted(TOKEN) })
  const { chunks } = await client.sessionDocument({ harness: 'claude-code', id: 's' })
  let length = 0
  for await (const chunk of chunks) length += chunk.length
  return length
}
