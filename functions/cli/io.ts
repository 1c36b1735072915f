import process from 'node:process'
import type { RetryPolicy } from '#client'

/** Where a command writes; resolves when the reader on the other side has taken it, so memory stays bounded. */
export interface Sink {
  write(chunk: string | Uint8Array): Promise<void>
  readonly isTerminal: boolean
  readonly columns: number
}

/** Everything a command knows of the world around it, so that tests can give it another one. */
export interface Io {
  readonly stdout: Sink
  readonly stderr: Sink
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborts at Ctrl-C, and when nobody reads the output any more (with a BrokenPipe as reason). */
  readonly signal: AbortSignal
  readonly fetch: typeof fetch
  /** How patient requests are; default: as the client is. */
  readonly retry?: RetryPolicy
}

/** The reader of our output has gone (`runfold ls | head`): stop without a word. */
export class BrokenPipe extends Error {}

/** The real world. The first Ctrl-C ends the command in good order, a second one at once. */
export const processIo = (): Io => {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))
  return {
    stdout: sinkOf(process.stdout, stop),
    stderr: sinkOf(process.stderr, stop),
    env: process.env,
    cwd: process.cwd(),
    signal: stop.signal,
    fetch,
  }
}

const sinkOf = (stream: NodeJS.WriteStream, stop: AbortController): Sink => {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    stop.abort(error.code === 'EPIPE' ? new BrokenPipe() : error)
  })
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80
    },
    write: (chunk) =>
      new Promise((resolve) => {
        // The error itself arrives at the listener above; waiting for it here would report it twice.
        stream.write(chunk, () => resolve())
      }),
  }
}
