import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { demoArchive } from '../../../functions/cli/demo-run.ts'
import type { Io } from '../../../functions/cli/io.ts'
import { main } from '../../../functions/cli/main.ts'
import { type Server, URL_OF_SERVER } from '../../shared/client/kit.ts'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly bytes: Buffer
  /** The lines of standard output as JSON values. */
  readonly lines: readonly Record<string, unknown>[]
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly isTerminal?: boolean
  /** @default 120 */
  readonly columns?: number
  readonly fetch?: typeof fetch
  readonly signal?: AbortSignal
}

const nobody: typeof fetch = async () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) })
}

/** A folder of its own and the CLI in it; what it writes is captured. */
export const cliIn = (around: Surroundings = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const run = async (line: string | readonly string[], more: Surroundings = {}): Promise<Ended> => {
    const {
      env,
      isTerminal = false,
      columns = 120,
      fetch = nobody,
      signal = new AbortController().signal,
    } = { ...around, ...more }
    const sink = () => {
      const chunks: Uint8Array[] = []
      const write = async (chunk: string | Uint8Array) => void chunks.push(Buffer.from(chunk as string))
      return { chunks, sink: { write, isTerminal, columns } }
    }
    const out = sink()
    const err = sink()
    const io: Io = {
      stdout: out.sink,
      stderr: err.sink,
      env: { HOME: folder, ...env },
      cwd: folder,
      signal,
      fetch,
      retry: { firstPauseMs: 1, longestPauseMs: 1 },
    }
    const code = await main(typeof line === 'string' ? line.split(' ') : line, io)
    const bytes = Buffer.concat(out.chunks)
    const text = bytes.toString('utf8')
    return {
      code,
      out: text,
      err: Buffer.concat(err.chunks).toString('utf8'),
      bytes,
      get lines() {
        return text
          .split('\n')
          .filter(Boolean)
          .map((each) => JSON.parse(each))
      },
    }
  }
  const write = (name: string, bytes: Uint8Array) => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    return path
  }
  return { folder, run, write }
}

/** The CLI in a folder of its own, with a token of this server. */
export const cliOn = ({ fetch, token }: Server) =>
  cliIn({ fetch, env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: token } })

export const demoBytes = (records = 60, seed = 1) => Buffer.concat([...demoArchive({ seed, records })])
