import type { LambdaFunctionURLEvent } from 'aws-lambda'

/** A function's URL tells no more of the request line than path and query, so any origin will do. */
const ORIGIN = 'https://function-url'

export interface IncomingRequest {
  readonly request: Request
  /** The request target as it came on the wire. */
  readonly target: string
  readonly peer: string
}

/**
 * The request that an event of a function URL tells of (payload format 2.0).
 *
 * @param signal aborts what the request waits for
 * @throws TypeError where it tells of none
 */
export function requestOf(event: LambdaFunctionURLEvent, signal: AbortSignal): IncomingRequest {
  const { rawPath, rawQueryString, requestContext } = event
  const { method, sourceIp } = requestContext.http
  const target = rawQueryString ? `${rawPath}?${rawQueryString}` : rawPath
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(event)
  const request = new Request(ORIGIN + target, {
    method,
    headers: headersOf(event),
    signal,
    ...(body && { body }),
  })
  return { request, target, peer: sourceIp }
}

function bodyOf({ body, isBase64Encoded }: LambdaFunctionURLEvent): Uint8Array<ArrayBuffer> | undefined {
  if (!body) return undefined
  return new Uint8Array(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'))
}

/** What no header can carry (RFC 9110, 5.5) is none that we read. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

function headersOf({ headers, cookies }: LambdaFunctionURLEvent): Headers {
  const all = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && FIELD_VALUE.test(value)) all.set(name, value)
  }
  if (cookies) all.set('cookie', cookies.join('; '))
  return all
}
