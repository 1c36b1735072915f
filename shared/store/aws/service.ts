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

const CONNECT_MS = 2_000
/** A body that stops for so long is a broken connection. */
const SILENCE_MS = 20_000

/**
 * A client's configuration. A try that hangs must end well before its caller gives up, or the repeat comes too late to
 * help.
 */
export const configOf = (
  options: ServiceOptions,
  ours: { readonly maxAttempts: number; readonly requestTimeout_ms: number },
) => ({
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
