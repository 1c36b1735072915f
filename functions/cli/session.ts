import { type Client, createClient, isLoopback } from '#client'
import { zstd } from '../daemon/zstd.ts'
import { type Config, readConfig } from './config.ts'
import type { Io } from './io.ts'
import { createOutput, type Output } from './output.ts'
import { oneLine } from './terminal-text.ts'

/** The options every command has. */
export interface GlobalOptions {
  readonly url?: string
  readonly json?: boolean
}

/** What one command is given to work with. */
export interface Session {
  readonly io: Io
  readonly out: Output
  /** For progress and notes, so that standard output holds the answer only. */
  readonly err: Output
  readonly json: boolean
  readonly signal: AbortSignal
  config(): Promise<Config>
  client(): Promise<Client>
  /** A client of another server than the one that the settings name. */
  connect(config: Config): Promise<Client>
}

export const createSession = (io: Io, options: GlobalOptions): Session => {
  const err = createOutput(io.stderr, io.env)
  const config = once(() => readConfig(io, options.url))
  const connect = async ({ url, token }: Config): Promise<Client> => {
    await warnOfPlainHttp(err, { url, token })
    let isReached = false
    return createClient({
      url,
      ...(token && { token }),
      fetch: async (...request) => {
        const answer = await io.fetch(...request)
        isReached = true
        return answer
      },
      signal: io.signal,
      compress: zstd,
      retry: {
        ...io.retry,
        // A server that never was there is said at once; one that went away is waited for.
        giveUpOn: (error) => !isReached && error.facts.reason !== undefined,
        onRetry: (error, pauseMs) =>
          void err.line(`${oneLine(error.message)}; trying again in ${Math.ceil(pauseMs / 1000)} s`),
      },
    })
  }
  return {
    io,
    out: createOutput(io.stdout, io.env),
    err,
    json: options.json === true,
    signal: io.signal,
    config,
    client: once(async () => connect(await config())),
    connect,
  }
}

export const warnOfPlainHttp = async (err: Output, { url, token }: Config): Promise<void> => {
  if (token && url.startsWith('http:') && !isLoopback(url))
    await err.line('the connection is not encrypted: others on the way can read the token')
}

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
