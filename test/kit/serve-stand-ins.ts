import { join } from 'node:path'
import { nodePlatform } from '../../functions/api/platform.ts'
import { runServer } from '../../functions/api/run-server.ts'
import { readServerEnv } from '../../functions/env.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { BUCKET, startStandIns, TABLE } from './stand-ins.ts'

// `npm run serve:stand-ins`: the server on the store aws, with S3 and DynamoDB in the same process and their state in
// the data folder, so that one kill takes all and one start brings all back.

const standIns = await startStandIns(join(readServerEnv(process.env).data, 'stand-ins'))
/** Faultless: it only judges presigned URLs, which the stand-in does not. */
const s3 = await startFaultProxy(standIns.s3, () => undefined)
Object.assign(process.env, {
  RUNFOLD_STORE: 'aws',
  RUNFOLD_BUCKET: BUCKET,
  RUNFOLD_TABLE: TABLE,
  RUNFOLD_ENDPOINT_S3: s3.endpoint,
  RUNFOLD_ENDPOINT_DYNAMODB: standIns.dynamodb,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'standin',
  AWS_SECRET_ACCESS_KEY: 'standin',
})
await runServer(nodePlatform, process.env, process.argv.slice(2))
