import pRetry from 'p-retry'
import { isRunfoldError, PROBLEMS, RunfoldError } from '../schema/index.ts'

/** How long and how often a request is repeated; times in milliseconds. */
export interface RetryPolicy {
  /** Attempts after the first one. @default 6 */
  readonly retries?: number
  /** The first pause, doubled each time and stretched by a random factor from 1 to 2. @default 250 */
  readonly firstPauseMs?: number
  /** @default 10000 */
  readonly longestPauseMs?: number
  /** Waits for what Retry-After asks beyond the pause. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Repeatable errors that the caller would rather hear of at once. */
  readonly giveUpOn?: (error: RunfoldError) => boolean
  /** Told before each pause, for progress lines. */
  readonly onRetry?: (error: RunfoldError, pauseMs: number) => void
}

/** The longest a server can make a client wait between two attempts, whatever its Retry-After says. */
const RETRY_AFTER_MAX_S = 120

/**
 * Runs `attempt` until it succeeds, fails for good, or the policy is used up; rejects with the last error. Only errors
 * whose row in PROBLEMS says `retry` are repeated: `fenced` never is, `unavailable` is, so the two cannot be confused.
 */
export const withRetry = async <T>(
  attempt: (number: number) => Promise<T>,
  policy: RetryPolicy,
  signal?: AbortSignal,
): Promise<T> => {
  const sleep = policy.sleep ?? pause
  return pRetry(attempt, {
    retries: policy.retries ?? 6,
    minTimeout: policy.firstPauseMs ?? 250,
    maxTimeout: policy.longestPauseMs ?? 10_000,
    randomize: true,
    ...(signal && { signal }),
    shouldRetry: ({ error }) => mayRepeat(error) && !policy.giveUpOn?.(error),
    onFailedAttempt: async ({ error, retryDelay }) => {
      if (retryDelay === 0 || !mayRepeat(error) || policy.giveUpOn?.(error)) return
      const asked = Math.min(Number(error.facts.retry_after_s ?? 0), RETRY_AFTER_MAX_S) * 1000
      policy.onRetry?.(error, Math.max(asked, retryDelay))
      if (asked > retryDelay) await sleep(asked - retryDelay, signal)
    },
  })
}

/** Whether the same request may be sent again; an answer that is not the server's own only when a gateway is busy. */
export const mayRepeat = (error: unknown): error is RunfoldError =>
  mayPass(error) && !(error.code === 'internal' && error.facts.foreign)

/**
 * Whether what failed may succeed later, for whoever can wait: an answer that is not the server's own, such as a hotel's page or
 * half an answer, is none that a person waits through, but no reason either to give up what is to be sent.
 */
export const mayPass = (error: unknown): error is RunfoldError =>
  isRunfoldError(error) && PROBLEMS[error.code].retry && !isTooLarge(error)

/** Whether the server, or a gateway before it, takes no body of this size. */
export const isTooLarge = (error: unknown): boolean =>
  isRunfoldError(error) && (error.code === 'too_large' || error.facts.http_status === 413)

/** Rejects when the signal aborts, or has. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })

/** What `fetch` and reading a body throw when the connection fails, as `unavailable`; a cancellation stays itself. */
export const unreachable = (error: unknown, url: string, signal?: AbortSignal): unknown => {
  if (signal?.aborted || isRunfoldError(error)) return error
  const reason = networkReason(error)
  return new RunfoldError(
    'unavailable',
    `no answer from ${url}`,
    { url, ...(reason && { reason }) },
    { cause: error },
  )
}

/** `ECONNREFUSED` and the like, from wherever the platform hid it. */
const networkReason = (error: unknown): string | undefined => {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
}
