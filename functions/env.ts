/** The environment a server is started with (API.md, Local server). */
export interface ServerEnv {
  /** 0 takes any free port. */
  readonly port: number
  readonly host: string
  readonly data: string
  readonly adminToken: string | undefined
  /** Whether each request is logged as a JSON line. */
  readonly logRequests: boolean
}

type Variables = Readonly<Record<string, string | undefined>>

/** A setting that cannot be used; the message is a line for the person who starts the server. */
export class SettingError extends Error {}

/** An empty variable counts as absent, as in most shells' habits. */
export function readServerEnv(variables: Variables): ServerEnv {
  return {
    port: portOf(variables.PORT || '8080'),
    host: variables.RUNFOLD_HOST || '127.0.0.1',
    data: variables.RUNFOLD_DATA || './runfold-data',
    adminToken: tokenOf(variables.RUNFOLD_ADMIN_TOKEN || undefined),
    logRequests: variables.RUNFOLD_LOG === 'json',
  }
}

function portOf(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new SettingError(`PORT is ${JSON.stringify(text)}; it must be a number from 0 to 65535`)
}

function tokenOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z0-9._~+/-]+=*$/.test(text)) return text
  throw new SettingError('RUNFOLD_ADMIN_TOKEN may hold A-Z a-z 0-9 . _ ~ + / -')
}
