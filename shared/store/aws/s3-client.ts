import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { statusOf } from './sdk-error.ts'
import { configOf, type ServiceOptions } from './service.ts'

/** A part of 8 MiB or a copy of 1 GiB takes seconds. */
const BOUNDS = { maxAttempts: 4, requestTimeout_ms: 60_000 } as const

/** Elsewhere than at Amazon a bucket is rarely a host name, so the path carries it. */
export function s3Client(
  options: ServiceOptions = {},
  more: Pick<S3ClientConfig, 'requestChecksumCalculation'> = {},
): S3Client {
  const forcePathStyle = options.endpoint !== undefined
  const client = new S3Client({ ...configOf(options, BOUNDS), ...more, forcePathStyle })
  // A 409 means that another request was in the way, and S3 asks for the same again; the SDK takes it for a final no.
  // Within this step retries come early, so that what is late stands between them and the request.
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        throw statusOf(error) === 409 ? Object.assign(error as Error, { $retryable: {} }) : error
      }
    },
    { step: 'finalizeRequest', priority: 'low', name: 'repeatConflicts' },
  )
  return client
}
