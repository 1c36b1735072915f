import { getRequestListener } from '@hono/node-server'
import { type AwsSettings, awsOptions, type ServerEnv } from '../env.ts'
import type { Log } from './log.ts'
import type { OpenStore, Platform } from './start-server.ts'

/** A server on Node. A store's code is loaded where it is chosen; the AWS SDK alone is larger than all the rest. */
export const nodePlatform: Platform = { openStore, listener: getRequestListener }

async function openStore({ data, store }: ServerEnv, log: Log): Promise<OpenStore> {
  if (store.kind === 'aws') return openAws(store, log)
  const { openLocalStore } = await import('#store/local')
  return { ...(await openLocalStore(data)), place: data }
}

async function openAws(settings: AwsSettings, log: Log): Promise<OpenStore> {
  const { awsPorts } = await import('#store/aws')
  const { bucket, table, prefix, dynamodb } = settings
  const ports = awsPorts({
    ...awsOptions(settings),
    onStaleCard: (_run, error) => log.warn('a card was not written; maintenance mends it', error),
  })
  if (dynamodb !== undefined) await ports.ensureTable()
  // A bucket that is not there is found now, and not by the first append.
  await ports.objects.get('runs/')
  const never = new Promise<unknown>(() => {})
  return { ports, broken: never, close: ports.close, place: `s3://${bucket}/${prefix} and table ${table}` }
}
