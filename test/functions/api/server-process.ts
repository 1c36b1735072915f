import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SERVER = fileURLToPath(new URL('../../../functions/api/server.ts', import.meta.url))

export interface ServerProcess {
  readonly url: URL
  readonly message: string
  readonly child: ChildProcess
  /** The exit code, null after a kill. */
  readonly ended: Promise<number | null>
}

export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'runfold-server-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Runs a server on a free port, as `npm start` does; resolves when it listens, and rejects with its words when it ends before. */
export async function startProcess(
  folder: string,
  variables: Record<string, string> = {},
  args: string[] = [],
  program = SERVER,
): Promise<ServerProcess> {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH, PORT: '0', RUNFOLD_DATA: folder, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let complained = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      said += chunk
      const url = /listens on (http:\S+),/.exec(said)?.[1]
      if (url && said.trimEnd().endsWith('ls')) resolve({ url: new URL(url), message: said, child, ended })
    })
    child.stderr.on('data', (chunk) => {
      complained += chunk
    })
    void ended.then((code) => reject(new Error(`ended with ${code}: ${complained}`)))
  })
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** A request on node:http, which sends path and headers exactly as written. */
export function ask(
  url: URL,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string | number>; body?: Uint8Array | string } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: url.hostname, port: url.port, method, path, headers, agent: false },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        )
        answer.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}
