import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { RunfoldError } from '../../schema/index.ts'
import { type SignedPost, signedPost } from './signed-fetch.ts'

/** Has a function run, without waiting for what it does. A failure is `unavailable`. */
export async function invoke(client: DynamoDBClient, name: string, event: unknown): Promise<void> {
  await post(client, 'calling a function', {
    service: 'lambda',
    path: `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`,
    headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'Event' },
    body: JSON.stringify(event),
  })
}

/** The text that Secrets Manager keeps. */
export async function readSecret(client: DynamoDBClient, arn: string): Promise<string> {
  const response = await post(client, 'reading a secret', {
    service: 'secretsmanager',
    path: '/',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'secretsmanager.GetSecretValue',
    },
    body: JSON.stringify({ SecretId: arn }),
  })
  const { SecretString } = (await response.json()) as { readonly SecretString?: unknown }
  if (typeof SecretString === 'string' && SecretString !== '') return SecretString
  throw new RunfoldError('internal', 'the secret holds no text')
}

async function post(client: DynamoDBClient, doing: string, request: SignedPost): Promise<Response> {
  const response = await signedPost(client, request).catch((cause: unknown) => {
    throw new RunfoldError('unavailable', `${doing}: no answer`, { retry_after_s: 1 }, { cause })
  })
  if (response.ok) return response
  await response.body?.cancel()
  throw new RunfoldError('unavailable', `${doing}: ${response.status}`, { retry_after_s: 1 })
}
