import type { ProblemCode } from '#schema'

/** What a script may rely on; shown by `runfold help exit-codes`. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  unreachable: 5,
  held: 6,
  fenced: 7,
  conflict: 8,
  torn: 9,
  damaged: 10,
  badInput: 11,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'done; damage that was stepped over in a file is told on standard error',
  1: 'something failed inside, here or in the server',
  2: 'the command line is wrong, or a file cannot be read or written',
  3: 'there is no such run, session, token or position',
  4: 'the token is missing or does not allow this',
  5: 'the server cannot be reached or is busy; the same command may be tried again',
  6: 'someone else holds the lease; wait, or use --force',
  7: 'fenced: another owner has taken the run, stop writing',
  8: 'the bytes here and on the server differ; nothing was changed',
  9: 'pushed up to the last whole frame; the torn bytes after it were not sent',
  10: 'verification found damage, or a rebuild could not give all bytes back',
  11: 'the input is not an LVR1 archive, or a frame is over a limit',
  130: 'interrupted',
}

/** Each problem of the server (API.md) ends the program with one of the codes above. */
export const EXIT_OF_PROBLEM: Readonly<Record<ProblemCode, ExitCode>> = {
  bad_request: EXIT.usage,
  unauthorized: EXIT.notAllowed,
  forbidden: EXIT.notAllowed,
  not_found: EXIT.notFound,
  method_not_allowed: EXIT.failed,
  offset_conflict: EXIT.conflict,
  overlap: EXIT.conflict,
  gap: EXIT.conflict,
  lease_held: EXIT.held,
  exists: EXIT.conflict,
  fenced: EXIT.fenced,
  too_large: EXIT.badInput,
  unsupported_media_type: EXIT.failed,
  range_not_satisfiable: EXIT.notFound,
  bad_frames: EXIT.badInput,
  internal: EXIT.failed,
  slow_down: EXIT.unreachable,
  unavailable: EXIT.unreachable,
}
