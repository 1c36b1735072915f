import type * as z from 'zod'
import { RunfoldError } from '#schema'

export interface Issue {
  readonly path: string
  readonly message: string
}

/** A `bad_request` that names what to fix; messages never repeat a value, only names and rules. */
export function badRequest(issues: readonly Issue[]): RunfoldError {
  const [first] = issues
  return new RunfoldError('bad_request', first ? described(first) : 'the request is malformed', { issues })
}

const described = ({ path, message }: Issue) => (path ? `${path}: ${message}` : message)

/** Parses what came in by its schema, or refuses with every issue found. */
export function parsed<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value, { error: inOurWords })
  if (result.success) return result.data
  throw badRequest(result.error.issues.flatMap(issuesOf))
}

/** What is not there at all is called so; for the rest zod's words do. */
const inOurWords = ({ code, input }: z.core.$ZodRawIssue) =>
  code === 'invalid_type' && input === undefined ? 'is missing' : undefined

function issuesOf(issue: z.core.$ZodIssue): Issue[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.map((key) => ({
    path: [path, key.slice(0, 100)].filter(Boolean).join('.'),
    message: 'is not known here',
  }))
}
