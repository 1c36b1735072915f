import { RunfoldError } from '../../schema/index.ts'

/** Names of the services' refusals that mean "not so fast"; everything else they say about load is a plain 5xx. */
const THROTTLES = new Set([
  'SlowDown',
  'ThrottlingException',
  'Throttling',
  'ThrottledException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'TooManyRequestsException',
])

const RETRY_AFTER_S = 1

/** The name of a refusal by the condition of a write. */
export const REFUSED = 'ConditionalCheckFailedException'

interface SdkError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number }
}

/** Whether the service answered with one of these error names. */
export const isNamed = (error: unknown, ...names: string[]): error is SdkError =>
  error instanceof Error && names.includes(error.name)

/** Of the answer; undefined when none came. */
export const statusOf = (error: unknown): number | undefined => (error as SdkError).$metadata?.httpStatusCode

/** True when the SDK sent the request more than once, so that a refusal may answer our own first try. */
export const wasRepeated = (error: unknown): boolean => ((error as SdkError).$metadata?.attempts ?? 1) > 1

/** What an SDK error means to us. A refusal is definite only where the service read the request once and said no. */
export function storageError(doing: string, error: unknown): RunfoldError {
  if (error instanceof RunfoldError) return error
  const { name } = error as SdkError
  const status = statusOf(error)
  const options = { cause: error }
  if (THROTTLES.has(name) || status === 429) {
    return new RunfoldError('slow_down', `${doing}: ${name}`, { retry_after_s: RETRY_AFTER_S }, options)
  }
  const definite = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 409
  if (definite && !wasRepeated(error)) return new RunfoldError('internal', `${doing}: ${name}`, {}, options)
  return new RunfoldError('unavailable', `${doing}: ${name}`, { retry_after_s: RETRY_AFTER_S }, options)
}

/** Runs a request; whatever the SDK throws leaves as one of our errors (`slow_down`, `unavailable`, `internal`). */
export async function asking<T>(doing: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    throw storageError(doing, error)
  }
}
