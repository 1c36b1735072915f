import { isRunfoldError } from '#schema'
import { SettingError } from '../env.ts'

const SYSTEM: Readonly<Record<string, (error: NodeJS.ErrnoException & { port?: number }) => string>> = {
  EADDRINUSE: ({ port }) => `port ${port} is in use; stop what listens there, or set PORT to another one`,
  EADDRNOTAVAIL: ({ message }) => `this machine has no such address (${message}); see RUNFOLD_HOST`,
  EACCES: ({ message }) => `this is not allowed: ${message}`,
}

/** Why a server did not start, in one line; whatever is not foreseen is told in full. */
export function whyNot(error: unknown): string {
  if (error instanceof SettingError || isRunfoldError(error)) return error.message
  if (!(error instanceof Error)) return String(error)
  const { code = '' } = error as NodeJS.ErrnoException
  return SYSTEM[code]?.(error) ?? error.stack ?? error.message
}
