import { CommanderError } from 'commander'
import { isRunfoldError, type RunfoldError } from '#schema'
import { EXIT, EXIT_OF_PROBLEM, type ExitCode } from './exit-codes.ts'
import { oneLine } from './terminal-text.ts'
import { UsageError } from './usage-error.ts'

/** What a person is told of an error, and how the program ends. */
export interface Explanation {
  readonly text: string
  readonly hint?: string
  readonly code: ExitCode
  /** The same for a program: the problem's code with its facts (API.md, Problems). */
  readonly problem: Readonly<Record<string, unknown>>
}

/** Every expected error in words; an unexpected one keeps its message only, its stack is shown with RUNFOLD_DEBUG=1. */
export const explain = (error: unknown): Explanation => {
  if (error instanceof UsageError) return plainly('usage', error.message, EXIT.usage)
  if (error instanceof CommanderError)
    return plainly('usage', error.message.replace(/^error: /, ''), EXIT.usage)
  if (!isRunfoldError(error)) {
    return plainly('unexpected', error instanceof Error ? error.message : String(error), EXIT.failed)
  }
  const hint = hintOf(error)
  const code = EXIT_OF_PROBLEM[error.code]
  const problem = { ...error.facts, code: error.code, detail: error.message, exit_code: code }
  return { text: textOf(error), ...(hint && { hint }), code, problem }
}

const plainly = (name: string, message: string, code: ExitCode): Explanation => ({
  text: oneLine(message),
  code,
  problem: { code: name, detail: message, exit_code: code },
})

const textOf = (error: RunfoldError): string => {
  if (isUnreached(error)) return `no server at ${error.facts.url}`
  const { request_id } = error.facts
  const issues = issuesOf(error).join('; ')
  const where = error.code === 'internal' && request_id ? ` (request ${request_id})` : ''
  const file = error.facts.file === undefined ? '' : `${error.facts.file}: `
  return oneLine(`${file}${error.code}: ${error.message}${issues && `; ${issues}`}${where}`)
}

/** What the text does not say yet: it is mostly the first issue itself. */
const issuesOf = ({ facts, message }: RunfoldError): readonly string[] => {
  const issues: { path?: unknown; message?: unknown }[] = Array.isArray(facts.issues) ? facts.issues : []
  return issues
    .filter((issue) => issue.message !== message)
    .map(issueText)
    .filter((text) => text !== message && text.replace(': ', ' ') !== message)
}

const hintOf = (error: RunfoldError): string | undefined => {
  if (isUnreached(error))
    return 'start one with `npm start` or `runfold serve`, or name another with --url or RUNFOLD_URL'
  const { facts } = error
  switch (error.code) {
    case 'unauthorized':
      if (facts.variable) return `set ${facts.variable}`
      return 'set RUNFOLD_TOKEN; beside a local server the token is in <data folder>/admin-token (RUNFOLD_DATA)'
    case 'forbidden':
      return facts.scope ? `the token needs the scope ${oneLine(String(facts.scope))}` : undefined
    case 'lease_held':
      return 'wait until it is free, or use --force'
    case 'fenced':
      return `${holderOf(facts.lease)} has the run now (epoch ${facts.epoch}); nothing more was written`
    case 'too_large':
      return `the server takes batches up to ${facts.max_batch_bytes} bytes, and with direct uploads frames up to ${facts.max_frame_bytes}; this frame cannot be sent`
    default:
      return undefined
  }
}

/** The connection was refused, the name is unknown, and the like: nobody is there at all. */
const isUnreached = (error: RunfoldError): boolean =>
  error.code === 'unavailable' && error.facts.reason !== undefined

const holderOf = (lease: unknown): string => {
  const { machine_id, world_id } = (lease ?? {}) as { machine_id?: string; world_id?: string }
  return machine_id ? oneLine(`${machine_id}/${world_id}`) : 'nobody'
}

const issueText = ({ path, message }: { path?: unknown; message?: unknown }): string =>
  [Array.isArray(path) ? path.join('.') : path, message].filter(Boolean).join(': ')
