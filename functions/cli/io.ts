import process from 'node:process'
import type { RetryPolicy } from '#client'
import { UsageError } from './usage-error.ts'

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
  /**
   * Aborts at Ctrl-C, when nobody reads the output any more (with a BrokenPipe as reason), and when it cannot be written
   * (an OutputLost).
   */
  readonly signal: AbortSignal
  readonly fetch: typeof fetch
  /** How patient requests are; default: as the client is. */
  readonly retry?: RetryPolicy
}

/** The reader of our output has gone (`runfold ls | head`): stop without a word. */
export class BrokenPipe extends Error {}

/** What was to be written did not get there, such as onto a full disk. */
export class OutputLost extends UsageError {}

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
  const lost = (error: NodeJS.ErrnoException) =>
    stop.abort(
      error.code === 'EPIPE'
        ? new BrokenPipe()
        : new OutputLost(`the output cannot be written: ${error.message}`, { cause: error }),
    )
  stream.on('error', lost)
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || 80 // a pseudo-terminal that nobody gave a size has 0
    },
    write: (chunk) =>
      new Promise((resolve) => {
        // The listener above hears of an error too, but after this: a command whose last line is lost must not end well.
        stream.write(chunk, (error) => {
          if (error) lost(error)
          resolve()
        })
      }),
  }
}
