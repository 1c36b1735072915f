import { inspect } from 'node:util'
import type { RequestEvent } from './parts.ts'

/** Where a server tells what happens: quiet but for warnings, or a JSON line for everything. All of it goes to stderr. */
export interface Log {
  request(event: RequestEvent): void
  warn(message: string, cause?: unknown): void
}

export function createLog(json: boolean, write: (line: string) => void): Log {
  const warn = (message: string, cause?: unknown) => {
    if (!json) return write(`runfold: ${message}${cause === undefined ? '' : `\n${told(cause)}`}`)
    write(
      JSON.stringify({ time: new Date().toISOString(), level: 'warn', message, cause: cause && told(cause) }),
    )
  }
  return {
    warn,
    request: ({ cause, ...event }) => {
      if (json) {
        const level = event.status >= 500 ? 'error' : 'info'
        const ms = Math.round(event.ms * 10) / 10
        write(
          JSON.stringify({
            time: new Date().toISOString(),
            level,
            ...event,
            ms,
            cause: cause && told(cause),
          }),
        )
      } else if (event.status >= 500) {
        const { method, route, status, code, run_id, request_id } = event
        const run = run_id ? ` of run ${run_id}` : ''
        warn(`${method} ${route}${run} answered ${status} ${code} (request ${request_id})`, cause)
      }
    },
  }
}

/** A thrown value for the log, with what is behind it. */
export const told = (cause: unknown) => inspect(cause, { depth: 4, breakLength: 110, maxStringLength: 500 })
