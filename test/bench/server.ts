import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../kit/free-port.ts'
import { COMPILE_CACHE, NODE_FLAGS } from './figures.ts'

export const TOKEN = 'bench-token-that-guards-nothing'

export interface BenchServer {
  readonly url: string
  json(method: string, path: string, body: unknown): Promise<Record<string, unknown>>
  bytes(path: string, body: Uint8Array): Promise<Record<string, unknown>>
  /** Highest resident memory of the server so far; 0 where the system does not tell. */
  peakBytes(): number
  /** Resident memory of the server now. */
  residentBytes(): number
  stop(): Promise<void>
}

/** The server as `npm start` runs it, in a process of its own. @param settings of the environment, beside the usual */
export async function startBenchServer(
  data: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  if (!existsSync(COMPILE_CACHE)) await compileOnce()
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, new URL('../../functions/api/server.ts', import.meta.url).pathname],
    {
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        PORT: String(port),
        RUNFOLD_DATA: data,
        RUNFOLD_ADMIN_TOKEN: TOKEN,
        ...settings,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const base = `http://127.0.0.1:${port}`
  await answering(`${base}/v1/health`)
  const request = async (path: string, init: RequestInit) => {
    const response = await fetch(base + path, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${TOKEN}` },
    })
    if (!response.ok) throw new Error(`${init.method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  }
  return {
    url: base,
    json: (method, path, body) =>
      request(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    bytes: (path, body) =>
      request(path, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: { 'content-type': 'application/octet-stream' },
      }),
    peakBytes: () => memoryOf(child.pid, 'VmHWM'),
    residentBytes: () => memoryOf(child.pid, 'VmRSS'),
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

/** The first start of a checkout compiles, and takes 25 MiB for it that no later one does. */
async function compileOnce(): Promise<void> {
  mkdirSync(COMPILE_CACHE, { recursive: true })
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-'))
  await (await startBenchServer(folder)).stop()
  rmSync(folder, { recursive: true })
}

async function answering(url: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`no answer at ${url}`)
}

function memoryOf(pid: number | undefined, name: 'VmHWM' | 'VmRSS'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]
    return Number(kilobytes ?? 0) * 1024
  } catch {
    return 0
  }
}
