import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isLoopback, Redacted } from '#client'
import type { Io } from './io.ts'
import { UsageError } from './usage-error.ts'

export const DEFAULT_URL = 'http://127.0.0.1:8080'
export const DEFAULT_DATA = './runfold-data'
const TOKEN_FILE = 'admin-token'

export interface Config {
  readonly url: string
  readonly token: Redacted | undefined
}

/**
 * Where the server is and what to show it: RUNFOLD_URL (or `url`), RUNFOLD_TOKEN, else the token that a local server left
 * in its data folder. That token is for this machine and is sent nowhere else.
 */
export const readConfig = async (io: Io, url?: string): Promise<Config> => {
  const server = url ?? filled(io.env.RUNFOLD_URL) ?? DEFAULT_URL
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? ''))
    throw new UsageError(`not an http(s) URL: ${server}`)
  const given = filled(io.env.RUNFOLD_TOKEN)
  const token = given ?? (isLoopback(server) ? await localToken(io) : undefined)
  // A header cannot carry it, and fetch would call that a broken connection, to be tried again.
  if (token && !/^[\x21-\x7e]+$/.test(token))
    throw new UsageError('the token holds a character that no token has; look at RUNFOLD_TOKEN')
  return { url: server, token: token === undefined ? undefined : new Redacted(token) }
}

const localToken = async (io: Io): Promise<string | undefined> => {
  const path = resolve(io.cwd, filled(io.env.RUNFOLD_DATA) ?? DEFAULT_DATA, TOKEN_FILE)
  try {
    return filled(await readFile(path, 'utf8'))
  } catch {
    // No server was started here, or its folder is not ours to read; the server will say that a token is needed.
    return undefined
  }
}

const filled = (text: string | undefined): string | undefined => text?.trim() || undefined
