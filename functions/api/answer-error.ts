import { jsonBytes } from '#codec'
import { isRunfoldError, PROBLEMS, RunfoldError } from '#schema'

/** What is answered, and for the log what was behind it. */
export interface Refusal {
  readonly error: RunfoldError
  readonly cause?: unknown
}

/** Anything that is not ours is `internal`; its text may hold anything, so the log alone sees it. */
export function refusalOf(thrown: unknown): Refusal {
  if (isRunfoldError(thrown)) return { error: thrown, cause: thrown.cause }
  return {
    error: new RunfoldError('internal', 'something failed inside; see the log by the request_id'),
    cause: thrown,
  }
}

/** The only place that answers errors: problem+json (RFC 9457) and the headers that go with a code. */
export function answerError(error: RunfoldError, request_id: string): Response {
  const { status, title } = PROBLEMS[error.code]
  const facts = status === 503 ? { retry_after_s: 1, ...error.facts } : error.facts
  const problem = {
    type: `urn:runfold:problem:${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    request_id,
  }
  return new Response(jsonBytes({ ...problem, ...facts, ...problem }), {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'Runfold-Request-Id': request_id,
      ...headersOf(error, facts),
    },
  })
}

function headersOf(error: RunfoldError, facts: RunfoldError['facts']): Record<string, string> {
  const { retry_after_s, allow, tail, scope } = facts
  switch (error.code) {
    case 'unauthorized':
      return { 'WWW-Authenticate': 'Bearer realm="runfold"' }
    case 'forbidden':
      return typeof scope === 'string'
        ? {
            'WWW-Authenticate': `Bearer realm="runfold", error="insufficient_scope", scope="${scope.replaceAll(' or ', ' ')}"`,
          }
        : {}
    case 'method_not_allowed':
      return { Allow: (allow as readonly string[]).join(', ') }
    case 'range_not_satisfiable':
      return { 'Content-Range': `bytes */${tail}` }
    default:
      return typeof retry_after_s === 'number' ? { 'Retry-After': String(Math.ceil(retry_after_s)) } : {}
  }
}
