import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import dynalite from 'dynalite'
import { startFauxqs } from 'fauxqs'
import { type AwsPorts, awsPorts, type ServiceOptions } from '#store/aws'

// S3 and DynamoDB inside this process, for the real SDK clients: fauxqs and dynalite. What they get wrong stands in
// DESIGN.md ("Known of the stand-ins"); nothing may rest on it.

export const BUCKET = 'runfold'
export const TABLE = 'runfold'

export interface StandIns {
  readonly s3: string
  readonly dynamodb: string
  stop(): Promise<void>
}

/**
 * Any credentials do, but the SDK wants some, and DynamoDB Local takes only letters. The fault proxy judges presigned URLs
 * by them.
 */
export const SECRET_ACCESS_KEY = 'standin'

const serviceAt = (endpoint: string): ServiceOptions => ({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'standin', secretAccessKey: SECRET_ACCESS_KEY },
})

/** Starts both on free ports, with the bucket and the table made; with a `folder` their state outlives the process. */
export async function startStandIns(folder?: string): Promise<StandIns> {
  const s3 = await startFauxqs({
    port: 0,
    logger: false,
    ...(folder && { dataDir: made(folder, 's3') }), // SQLite: a kill leaves an object whole or absent
  })
  s3.setup({ buckets: [BUCKET] })
  const dynamo = dynalite({ createTableMs: 0, ...(folder && { path: made(folder, 'dynamodb') }) })
  dynamo.listen(0, '127.0.0.1')
  await once(dynamo, 'listening')
  const standIns = {
    s3: `http://127.0.0.1:${s3.port}`,
    dynamodb: `http://127.0.0.1:${(dynamo.address() as AddressInfo).port}`,
  }
  const ports = portsOf(standIns)
  await ports.ensureTable()
  ports.close()
  return {
    ...standIns,
    stop: async () => {
      dynamo.closeAllConnections()
      await new Promise((resolve) => dynamo.close(resolve))
      await s3.stop()
    },
  }
}

/** The store on the stand-ins, or on proxies before them. `prefix` keeps one test's objects apart from another's. */
export const portsOf = (at: Pick<StandIns, 's3' | 'dynamodb'>, prefix = '', table = TABLE): AwsPorts =>
  awsPorts({
    bucket: BUCKET,
    table,
    prefix,
    s3: serviceAt(at.s3),
    dynamodb: serviceAt(at.dynamodb),
  })

function made(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}
