/**
 * Every refusal of runfold is one code of this table, with facts. Server, client, CLI exit codes and OpenAPI read it
 * (API.md, "Problems"). `retry` tells whether the *same* request may be sent again.
 */
export const PROBLEMS = {
  bad_request: { status: 400, title: 'The request is malformed', retry: false },
  unauthorized: { status: 401, title: 'A valid token is needed', retry: false },
  forbidden: { status: 403, title: 'The token does not allow this', retry: false },
  not_found: { status: 404, title: 'There is no such thing', retry: false },
  method_not_allowed: { status: 405, title: 'The route has no such method', retry: false },
  offset_conflict: { status: 409, title: 'Other bytes are stored at this offset', retry: false },
  overlap: { status: 409, title: 'The batch begins with bytes that are stored already', retry: false },
  gap: { status: 409, title: 'The archive ends before this offset', retry: false },
  lease_held: { status: 409, title: 'Someone else holds the lease', retry: false },
  exists: { status: 409, title: 'The run exists already', retry: false },
  fenced: { status: 412, title: 'The epoch is not the current one', retry: false },
  too_large: { status: 413, title: 'The body is over the limit', retry: false },
  unsupported_media_type: {
    status: 415,
    title: 'The body is of a type or encoding that is not taken',
    retry: false,
  },
  range_not_satisfiable: { status: 416, title: 'The position is past the end', retry: false },
  bad_frames: { status: 422, title: 'The bytes are not whole LVR1 frames', retry: false },
  internal: { status: 500, title: 'Something failed inside', retry: true },
  slow_down: { status: 503, title: 'Too much at once', retry: true },
  unavailable: { status: 503, title: 'The storage cannot be reached', retry: true },
} as const

export type ProblemCode = keyof typeof PROBLEMS

/** Facts are JSON values that help the caller mend or repeat the request; never payload bytes, tokens or secrets. */
export type Facts = Readonly<Record<string, unknown>>

/** The only error that crosses a module border on purpose; anything else thrown is `internal`. */
export class RunfoldError extends Error {
  readonly code: ProblemCode
  readonly facts: Facts

  constructor(code: ProblemCode, message: string, facts: Facts = {}, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RunfoldError'
    this.code = code
    this.facts = facts
  }

  get status(): number {
    return PROBLEMS[this.code].status
  }
}

/** Narrows an unknown error to one of ours with (one of) these codes. */
export function isRunfoldError(error: unknown, ...codes: ProblemCode[]): error is RunfoldError {
  return error instanceof RunfoldError && (codes.length === 0 || codes.includes(error.code))
}
