import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SignatureV4 } from '@smithy/signature-v4'

/** The hash that the signer wants, from Node itself. */
class Sha256 {
  #hash: Hash | Hmac
  readonly #secret: string | Uint8Array | undefined

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret as string | Uint8Array | undefined
    this.#hash = this.#made()
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as string | Uint8Array)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    this.#hash = this.#made()
  }

  #made() {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret)
  }
}

/** A POST to a service that is asked for too little to carry a client of its own (Signature Version 4). */
export interface SignedPost {
  /** As the signature names it; `AWS_ENDPOINT_URL_<name>` gives another address than Amazon's. */
  readonly service: 'lambda' | 'secretsmanager'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const TIMEOUT_MS = 3_000

/** Asks with the credentials and in the region of a client that is there already. */
export async function signedPost(
  { config }: DynamoDBClient,
  { service, path, headers, body }: SignedPost,
): Promise<Response> {
  const region = await config.region()
  const url = new URL(path, process.env[ENDPOINT[service]] || defaultEndpoint(service, region))
  const signer = new SignatureV4({ service, region, credentials: config.credentials, sha256: Sha256 })
  const signed = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port !== '' && { port: Number(url.port) }),
    path: url.pathname,
    headers: { ...headers, host: url.host },
    body,
  })
  return fetch(url, {
    method: 'POST',
    headers: signed.headers,
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
}

/** The names that every SDK of Amazon's reads. */
const ENDPOINT = {
  lambda: 'AWS_ENDPOINT_URL_LAMBDA',
  secretsmanager: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
} as const

const defaultEndpoint = (service: string, region: string) =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
