import { isRunfoldError } from '#schema'
import { SettingError } from '../env.ts'

const SYSTEM: Readonly<Record<string, (error: NodeJS.ErrnoException & { port?: number }) => string>> = {
  EADDRINUSE: ({ port }) => `port ${port} is in use; stop what listens there, or set PORT to another one`,
  EADDRNOTAVAIL: ({ message }) => `this machine has no such address (${message}); see RUNFOLD_HOST`,
  EACCES: ({ message }) => `this is not allowed: ${message}`,
}

/** Why a server did not start, in one line; a mistake of ours is told in full. */
export function whyNot(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = '' } = error as NodeJS.ErrnoException
  const known = SYSTEM[code]?.(error)
  if (known) return known
  if (isRunfoldError(error) && error.cause instanceof Error) return `${error.message}: ${error.cause.message}`
  return isForPeople(error) ? error.message : (error.stack ?? error.message)
}

/** Plain Errors are thrown on purpose, with a sentence; a TypeError and its like never are. */
const isForPeople = (error: Error) =>
  error instanceof SettingError || isRunfoldError(error) || error.constructor === Error
