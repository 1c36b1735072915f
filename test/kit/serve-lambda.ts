import { join } from 'node:path'
import { createTokens, systemClock } from '#store'
import { adminToken } from '../../functions/api/admin-token.ts'
import { keepDoing } from '../../functions/api/background.ts'
import { BUNDLES, buildBundle } from '../../functions/bundles.ts'
import { readServerEnv } from '../../functions/env.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { runSchedule, startPlatform } from './lambda-platform.ts'
import { portsOf, startStandIns } from './stand-ins.ts'

// `npm run lambda`: builds what is deployed and serves it as Lambda would, on S3 and DynamoDB in this process with their
// state in the data folder. One kill takes the whole group, and one start brings all back.

/** The schedule of infra is a minute; here nobody waits for it. */
const SCHEDULE_MS = 1000
/** Processes that are there before the first request, so that a few callers at once wait for no start. */
const PROVISIONED = 4

const { port, data, adminToken: given, logRequests } = readServerEnv(process.env)
await Promise.all(BUNDLES.map((name) => buildBundle(name)))
const standIns = await startStandIns(join(data, 'stand-ins'))
/** Faultless: it only judges presigned URLs, which the stand-in does not. */
const s3 = await startFaultProxy(standIns.s3, () => undefined)
const at = { s3: s3.endpoint, dynamodb: standIns.dynamodb }

const token = await adminToken(data, given)
const ports = portsOf(at)
await createTokens(ports.tokens, systemClock).install(token.text)
ports.close()

const platform = await startPlatform({
  port,
  standIns: at,
  ...(logRequests && { log: (line) => process.stderr.write(line) }),
})
platform.api.provision(PROVISIONED)
const closing = new AbortController()
void keepDoing(() => runSchedule(platform), {
  everyMs: SCHEDULE_MS,
  clock: systemClock,
  signal: closing.signal,
  failed: (error) => process.stderr.write(`maintenance: ${error}\n`),
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    closing.abort()
    await platform.stop()
    process.exit(0)
  })
}
process.stdout.write(
  `the functions are served on ${platform.url}, data in ${data}, token in ${token.place}\n`,
)
