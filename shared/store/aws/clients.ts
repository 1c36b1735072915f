import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { statusOf } from './sdk-error.ts'

/** What may be said about a service; everything left out comes from the SDK's own chain (environment, profile, role). */
export interface ServiceOptions {
  readonly region?: string
  /** Another address than Amazon's: a compatible store, or a stand-in. */
  readonly endpoint?: string
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Tries of one request, the first included. */
  readonly maxAttempts?: number
  /** Until the answer begins. */
  readonly requestTimeout_ms?: number
}

// A try that hangs must end well before its caller gives up, or the repeat comes too late to help. An item update takes
// some 10 ms; a part of 8 MiB or a copy of 1 GiB takes seconds.
const DYNAMO = { maxAttempts: 4, requestTimeout_ms: 3_000 } as const
const S3 = { maxAttempts: 4, requestTimeout_ms: 60_000 } as const
const CONNECT_MS = 2_000
/** A body that stops for so long is a broken connection. */
const SILENCE_MS = 20_000

const configOf = (options: ServiceOptions, ours: { maxAttempts: number; requestTimeout_ms: number }) => ({
  ...(options.region !== undefined && { region: options.region }),
  ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
  ...(options.credentials !== undefined && { credentials: options.credentials }),
  maxAttempts: options.maxAttempts ?? ours.maxAttempts,
  retryMode: 'standard',
  requestHandler: {
    connectionTimeout: CONNECT_MS,
    requestTimeout: options.requestTimeout_ms ?? ours.requestTimeout_ms,
    throwOnRequestTimeout: true,
    socketTimeout: SILENCE_MS,
  },
})

export const dynamoClient = (options: ServiceOptions = {}): DynamoDBClient =>
  new DynamoDBClient(configOf(options, DYNAMO))

/** Elsewhere than at Amazon a bucket is rarely a host name, so the path carries it. */
export function s3Client(
  options: ServiceOptions = {},
  more: Pick<S3ClientConfig, 'requestChecksumCalculation'> = {},
): S3Client {
  const forcePathStyle = options.endpoint !== undefined
  const client = new S3Client({ ...configOf(options, S3), ...more, forcePathStyle })
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
